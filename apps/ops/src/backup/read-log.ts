import { createHash } from 'node:crypto';
import { decodeOrShow, isOpaque, selectEvents } from '@app/event-sourcing/core/event-catalogue.js';
import type { StoredEvent } from '@app/event-sourcing/core/event.js';
import type { EventStore } from '@app/event-sourcing/store/event-store.js';
import { readingEvents } from '@app/readings/contracts/index.js';
import type { ErasedReading } from './load-tables.js';
import type { LogFingerprint } from './manifest.js';

export interface LogContents {
  readonly log: LogFingerprint;
  /** Readings that the log says are erased. */
  readonly erased: readonly ErasedReading[];
}

const ERASURES = selectEvents(readingEvents, 'ReadingErased');

/** An event that cannot be read, or is quarantined, erases nobody: a restore would destroy the key of a reading for it. */
const isErasure = (event: StoredEvent): boolean =>
  event.type === 'ReadingErased' &&
  event.stream.startsWith('reading-') &&
  !isOpaque(decodeOrShow(ERASURES, event));

/** Events between two progress reports. */
const STEP = 1_000;

/**
 * Reads the log up to a position.
 * @param end position of the last event to read; `null` reads nothing
 */
export const readLog = async (
  store: EventStore,
  end: bigint | null,
  onProgress: (done: number, total: number) => void = () => undefined,
): Promise<LogContents> => {
  const hash = createHash('sha256');
  const erased: ErasedReading[] = [];
  let events = 0;
  let last: bigint | null = null;
  for await (const event of end === null ? [] : store.readAll()) {
    if (event.position > end!) break;
    const { stream, revision, position, id, type, data, metadata } = event;
    const lines = [stream, revision, position, id, type, JSON.stringify(data), JSON.stringify(metadata)];
    hash.update(`${lines.join('\n')}\n`);
    if (isErasure(event))
      erased.push({ readingId: stream.slice('reading-'.length), workspaceId: metadata.workspaceId });
    events += 1;
    last = position;
    if (events % STEP === 0) onProgress(Number(position), Number(end));
  }
  return {
    log: { events, lastPosition: last === null ? null : String(last), sha256: hash.digest('hex') },
    erased,
  };
};
