import { statSync } from 'node:fs';
import { join } from 'node:path';
import { holderOf } from '../log/folder-lock.js';
import { FORMAT_VERSION } from '../log/log-store.js';
import { lookAt } from '../log/look-at.js';

export interface StoreInfo {
  readonly format: number;
  readonly events: number;
  readonly streams: number;
  /** Positions as text, null when the store is empty. */
  readonly firstPosition: string | null;
  readonly lastPosition: string | null;
  /** ISO 8601, UTC. */
  readonly lastEventAt: string | null;
  readonly fileBytes: number;
  /** Process id of the server that holds the folder. */
  readonly servedBy: number | null;
}

/** Describes the contents of a data folder, also while a server runs on it. @throws {UnusableDataError} */
export const describeFolder = (folder: string): Promise<StoreInfo> =>
  lookAt(folder, (store) => {
    const { events, streams } = store.usage();
    const [first] = store.records({ from: 0n, limit: 1 });
    const last = store.lastRecord();
    return {
      format: FORMAT_VERSION,
      events,
      streams,
      firstPosition: first ? String(first.position) : null,
      lastPosition: last ? String(last.position) : null,
      lastEventAt: last ? new Date(last.createdAt).toISOString() : null,
      fileBytes: statSync(join(folder, 'data', 'data.mdb')).size,
      servedBy: holderOf(folder)?.pid ?? null,
    };
  });
