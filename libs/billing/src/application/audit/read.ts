import type { EventStore } from '@app/event-sourcing/store/event-store.js';
import type { StoredEvent } from '@app/event-sourcing/core/event.js';
import type { Progress } from '../../contracts/audit.js';

/** Events between two reports of progress. */
const STEP = 1_000;

/** How many events a stream has, for a progress that tells of what. */
const lengthOf = async (store: EventStore, stream: string): Promise<number> => {
  for await (const { revision } of store.read(stream, { direction: 'backwards', limit: 1 })) {
    return Number(revision) + 1;
  }
  return 0;
};

/** A whole stream, oldest first, telling its progress in events. */
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

/** Events looked at together: few enough that the store sends the next ones meanwhile. */
const BATCH = 64;

/**
 * Shows each event to `visit`, in lots: a reader that works between any two events is sent them much slower, and every
 * generator between the store and the reader costs a tenth of the rate.
 * @param until tells whether an event is beyond the last one wanted
 */
const visitAll = async (
  events: AsyncIterable<StoredEvent>,
  visit: (event: StoredEvent) => void,
  onStep: (seen: number, last: StoredEvent) => void,
  until: (event: StoredEvent) => boolean,
): Promise<number> => {
  let seen = 0;
  let lot: StoredEvent[] = [];
  for await (const event of events) {
    if (until(event)) break;
    lot.push(event);
    seen += 1;
    if (lot.length < BATCH) continue;
    lot.forEach(visit);
    lot = [];
    if (seen % (BATCH * 16) === 0) onStep(seen, event);
  }
  lot.forEach(visit);
  return seen;
};

/** A whole stream, oldest first, telling its progress in events. */
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

/** The whole log as it was when the visit began, telling its progress in positions. */
export const visitLog = async (
  store: EventStore,
  visit: (event: StoredEvent) => void,
  progress?: Progress,
): Promise<void> => {
  const head = await store.head();
  if (head === null) return;
  const onStep = (_: number, { position }: StoredEvent): void => progress?.(Number(position), Number(head));
  await visitAll(store.readAll(), visit, onStep, ({ position }) => position > head);
  progress?.(Number(head), Number(head));
};
