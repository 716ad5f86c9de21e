import { createHash } from 'node:crypto';
import { decodeOrShow, isOpaque, selectEvents } from '#event-sourcing/core/event-catalogue.js';
import type { StoredEvent } from '#event-sourcing/core/event.js';
import type { EventStore } from '#event-sourcing/store/event-store.js';
import { readingEvents } from '#readings/contracts/index.js';
import { isUuid } from '#platform/text/uuid.js';
import type { ErasedReading } from './erased-reading.js';
import type { LogFingerprint } from './manifest.js';

export interface LogContents {
  readonly log: LogFingerprint;
  /** Readings that the log says are erased. */
  readonly erased: readonly ErasedReading[];
  /** Ids of readings that only a bad event calls erased: it cannot be read, or is set aside. */
  readonly notErased: readonly string[];
}

const ERASURES = selectEvents(readingEvents, 'ReadingErased');

/**
 * Collects which readings are erased. An event that cannot be read, is set aside, or is in a stream that no reading of
 * this service has, erases nobody.
 */
export class Erasures {
  private readonly valid = new Map<string, ErasedReading>();
  private readonly bad = new Set<string>();

  /**
   * @param event with the decision that sets it aside, if there is one
   * @returns the reading that it erases, the first time
   */
  see(event: StoredEvent): ErasedReading | null {
    const { stream, type } = event;
    if (type !== 'ReadingErased' || !stream.startsWith('reading-')) return null;
    const readingId = stream.slice('reading-'.length);
    if (!isUuid(readingId)) return null;
    if (isOpaque(decodeOrShow(ERASURES, event))) {
      this.bad.add(readingId);
      return null;
    }
    if (this.valid.has(readingId)) return null;
    const reading = { readingId, workspaceId: event.metadata.workspaceId };
    this.valid.set(readingId, reading);
    return reading;
  }

  get erased(): readonly ErasedReading[] {
    return [...this.valid.values()];
  }

  get notErased(): readonly string[] {
    return [...this.bad].filter((readingId) => !this.valid.has(readingId));
  }
}

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
  const erasures = new Erasures();
  let events = 0;
  let last: bigint | null = null;
  for await (const event of end === null ? [] : store.readAll()) {
    if (event.position > end!) break;
    const { stream, revision, position, id, type, data, metadata } = event;
    const lines = [stream, revision, position, id, type, JSON.stringify(data), JSON.stringify(metadata)];
    hash.update(`${lines.join('\n')}\n`);
    erasures.see(event);
    events += 1;
    last = position;
    if (events % STEP === 0) onProgress(Number(position), Number(end));
  }
  return {
    log: { events, lastPosition: last === null ? null : String(last), sha256: hash.digest('hex') },
    erased: erasures.erased,
    notErased: erasures.notErased,
  };
};
