import { existsSync, mkdirSync, renameSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { UnusableDataError } from '../log/environment.js';
import { lockFolder } from '../log/folder-lock.js';
import { LogStore, type NumberedRecord } from '../log/log-store.js';
import { firstVisible, hiddenBefore } from '../reads/stream-page.js';
import { DELETED_STREAM, type StreamHead } from '../streams/stream-head.js';
import { syncFile, syncFolder } from './durable-files.js';
import type { Progress } from './progress.js';

/** Records removed in one transaction. */
const BATCH = 10_000;

export interface Scavenged {
  readonly removedEvents: number;
  readonly bytesBefore: number;
  readonly bytesAfter: number;
}

type Removal = Omit<NumberedRecord, 'bytes'>;

/** The events of a stream that readers no longer see, oldest first. The last event always stays. */
function* hiddenEvents(store: LogStore, head: StreamHead, now: number): Generator<Removal> {
  const { number: streamNumber, last, tombstoned } = head;
  const first = tombstoned ? DELETED_STREAM : firstVisible(head);
  const oldest = hiddenBefore(head, now);
  const end = tombstoned ? last : last - 1n;
  if (end < 0n) return;
  for (const position of store.positions(streamNumber, 0n, end, Number.MAX_SAFE_INTEGER)) {
    const record = store.recordAt(position);
    if (!record || (record.revision >= first && record.createdAt >= oldest)) return;
    yield { streamNumber, revision: record.revision, position };
  }
}

/**
 * Removes events hidden by `$maxAge`, `$maxCount`, `$tb`, deletes and tombstones, also from $all. Then
 * rewrites the file without the freed pages. Each stream keeps its last event, so its numbering continues.
 * It works offline and locks the folder as a server does. It needs free disk space for the new file. A
 * failure leaves the store intact, and no copy.
 * @param now milliseconds since 1970, the reference time for `$maxAge`
 * @throws {UnusableDataError} when a server holds the folder or it cannot be opened
 */
export const scavengeFolder = async (folder: string, now: number, progress: Progress): Promise<Scavenged> => {
  const dataFile = join(folder, 'data', 'data.mdb');
  const copy = join(folder, 'data.scavenged');
  const unlock = lockFolder(folder);
  try {
    // LogStore.open would create a missing store; a scavenge must not.
    if (!existsSync(dataFile)) throw new UnusableDataError(`The data file ${dataFile} does not exist.`);
    const bytesBefore = statSync(dataFile).size;
    const store = await LogStore.open(folder);
    let removedEvents = 0;
    try {
      let batch: Removal[] = [];
      const heads = [...store.allHeads()];
      for (const [index, head] of heads.entries()) {
        progress.tell(index, heads.length);
        for (const removal of hiddenEvents(store, head, now)) batch.push(removal);
        if (batch.length < BATCH && index < heads.length - 1) continue;
        await store.remove(batch);
        removedEvents += batch.length;
        batch = [];
      }
      rmSync(copy, { recursive: true, force: true });
      mkdirSync(copy);
      await store.copyTo(copy);
    } finally {
      await store.close();
    }
    syncFile(join(copy, 'data.mdb'));
    // LMDB's lock file belongs to the old data file.
    rmSync(join(folder, 'data', 'lock.mdb'), { force: true });
    renameSync(join(copy, 'data.mdb'), dataFile);
    syncFolder(join(folder, 'data'));
    return { removedEvents, bytesBefore, bytesAfter: statSync(dataFile).size };
  } finally {
    try {
      // Also after a failure: half a copy would keep a full disk full.
      rmSync(copy, { recursive: true, force: true });
    } finally {
      unlock();
    }
  }
};
