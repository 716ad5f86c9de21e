import type { EventStore, ReadAllOptions } from '#event-sourcing/store/event-store.js';
import type { StoredEvent } from '#event-sourcing/core/event.js';
import type { Progress } from '../contracts/audit.js';

/** Events between two progress reports. */
const STEP = 1_000;

const lengthOf = async (store: EventStore, stream: string): Promise<number> => {
  for await (const { revision } of store.read(stream, { direction: 'backwards', limit: 1 })) {
    return Number(revision) + 1;
  }
  return 0;
};

/** A whole stream, oldest first. Reports progress in events. */
export async function* readStream(
  store: EventStore,
  stream: string,
  progress?: Progress,
): AsyncGenerator<StoredEvent> {
  const total = progress ? await lengthOf(store, stream) : 0;
  let seen = 0;
  for await (const event of store.read(stream)) {
    seen += 1;
    if (seen % STEP === 0) progress?.(seen, total);
    yield event;
  }
  progress?.(seen, Math.max(total, seen));
}

/** Events passed to the visitor together: few enough that the store sends the next ones meanwhile. */
const BATCH = 64;

/**
 * Passes each event to `visit`, in batches. A reader that pauses between events receives them much more slowly, and
 * each generator between store and reader costs a tenth of the rate.
 * @param until returns true for the first event beyond the range
 */
const visitAll = async (
  events: AsyncIterable<StoredEvent>,
  visit: (event: StoredEvent) => void,
  onStep: (seen: number, last: StoredEvent) => void,
  until: (event: StoredEvent) => boolean,
): Promise<number> => {
  let seen = 0;
  let batch: StoredEvent[] = [];
  for await (const event of events) {
    if (until(event)) break;
    batch.push(event);
    seen += 1;
    if (batch.length < BATCH) continue;
    batch.forEach(visit);
    batch = [];
    if (seen % (BATCH * 16) === 0) onStep(seen, event);
  }
  batch.forEach(visit);
  return seen;
};

/** Visits a whole stream, oldest first. Reports progress in events. */
export const visitStream = async (
  store: EventStore,
  stream: string,
  visit: (event: StoredEvent) => void,
  progress?: Progress,
): Promise<void> => {
  const total = progress ? await lengthOf(store, stream) : 0;
  const onStep = (seen: number): void => progress?.(seen, total);
  const seen = await visitAll(store.read(stream), visit, onStep, () => false);
  progress?.(seen, Math.max(total, seen));
};

/**
 * Visits the log up to its head at the start of the visit. Reports progress in positions.
 * @param only some of its streams; without it, all
 * @param after position of the last event that was visited before; `null`: from the beginning
 * @returns the position up to which it was visited
 */
export const visitLog = async (
  store: Pick<EventStore, 'head' | 'readAll'>,
  visit: (event: StoredEvent) => void,
  progress?: Progress,
  only?: Pick<ReadAllOptions, 'categories'>,
  after: bigint | null = null,
): Promise<bigint | null> => {
  const head = await store.head();
  if (head === null) return after;
  const onStep = (_: number, { position }: StoredEvent): void => progress?.(Number(position), Number(head));
  const events = store.readAll({ after, ...only });
  await visitAll(events, visit, onStep, ({ position }) => position > head);
  progress?.(Number(head), Number(head));
  return head;
};
