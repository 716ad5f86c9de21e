import type { EventStore } from '@app/event-sourcing/store/event-store.js';
import type { StoredEvent } from '@app/event-sourcing/core/event.js';
import type { Progress } from '../../contracts/audit.js';

/** Events between two reports of progress. */
const STEP = 1_000;

/** A whole stream, oldest first, telling its progress in revisions. */
export async function* readStream(
  store: EventStore,
  stream: string,
  progress?: Progress,
): AsyncGenerator<StoredEvent> {
  let total = 0;
  if (progress) {
    for await (const { revision } of store.read(stream, { direction: 'backwards', limit: 1 })) {
      total = Number(revision) + 1;
    }
  }
  let seen = 0;
  for await (const event of store.read(stream)) {
    seen += 1;
    if (seen % STEP === 0) progress?.(seen, total);
    yield event;
  }
  progress?.(seen, Math.max(total, seen));
}

/** The whole log as it was when the read began, telling its progress in positions. */
export async function* readLog(store: EventStore, progress?: Progress): AsyncGenerator<StoredEvent> {
  const head = await store.head();
  if (head === null) return;
  let seen = 0;
  for await (const event of store.readAll()) {
    if (event.position > head) break;
    seen += 1;
    if (seen % STEP === 0) progress?.(Number(event.position), Number(head));
    yield event;
  }
  progress?.(Number(head), Number(head));
}

/** Events handed on at a time: few enough that the store sends the next ones meanwhile. */
const BATCH = 64;

/** The same events in lists. A stream whose reader works between any two of its events is read much slower. */
export async function* inBatches(events: AsyncIterable<StoredEvent>): AsyncGenerator<readonly StoredEvent[]> {
  let batch: StoredEvent[] = [];
  for await (const event of events) {
    batch.push(event);
    if (batch.length < BATCH) continue;
    yield batch;
    batch = [];
  }
  yield batch;
}
