import { setTimeout as delay } from 'node:timers/promises';
import type { EventToAppend } from '../core/event.js';
import { StoreUnavailable } from '../store/errors.js';
import type { ExpectedRevision } from '../store/event-store.js';
import { InMemoryEventStore } from './in-memory-event-store.js';

/** Milliseconds until an append is written, and until a dropped one is given up. */
const WRITE_MS = 5;
const COMMIT_TIMEOUT_MS = 20;

/** Drops an append whose first event is being appended to the same stream already, as EventStoreDB does. */
export class DroppingEventStore extends InMemoryEventStore {
  private readonly underWay = new Set<string>();
  /** Appends that were dropped. */
  dropped = 0;
  /** From now on, an append is not written before one was dropped: another process will make the same one. */
  awaitsDrop = false;

  override async append(stream: string, expected: ExpectedRevision, events: readonly EventToAppend[]) {
    const key = `${stream} ${events[0]?.id}`;
    if (this.underWay.has(key)) {
      this.dropped += 1;
      await delay(COMMIT_TIMEOUT_MS);
      throw new StoreUnavailable('The commit timed out', true);
    }
    this.underWay.add(key);
    try {
      do await delay(WRITE_MS);
      while (this.awaitsDrop && this.dropped === 0);
      return await super.append(stream, expected, events);
    } finally {
      this.underWay.delete(key);
    }
  }
}
