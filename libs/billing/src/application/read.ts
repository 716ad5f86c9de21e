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
  let seen = 0;
  for await (const event of store.readAll({ after, ...only })) {
    if (event.position > head) break;
    visit(event);
    seen += 1;
    if (seen % STEP === 0) progress?.(Number(event.position), Number(head));
  }
  progress?.(Number(head), Number(head));
  return head;
};
