import type { EventToAppend } from '#event-sourcing/core/event.js';
import { StoreUnavailable } from '#event-sourcing/store/errors.js';
import type { AppendResult, EventStore, ExpectedRevision } from '#event-sourcing/store/event-store.js';
import type { InMemoryEventStore } from '#event-sourcing/testing/in-memory-event-store.js';
import { callOver, type Call } from './network.js';
import type { Life, Scheduler } from './scheduler.js';

/** What can go wrong with an append, and its probability. */
const UNHEARD = 0.02;
const LOST = 0.02;
const LATE = 0.02;
const REFUSED = 0.01;
const LATE_WITHIN_MS = 120_000;
const READ_FAILS = 0.01;

/** Appends still on their way, although their writer already got the error of an unknown outcome. */
export interface OnTheWay {
  count: number;
}

/**
 * The event store as one process sees it. A failed append may have been written, or not, or be written much later. Reads
 * may fail.
 */
export const faultyStore = (
  store: InMemoryEventStore,
  scheduler: Scheduler,
  life: Life,
  onTheWay: OnTheWay,
): EventStore => {
  const { random } = scheduler;
  const strikes = (probability: number): boolean => scheduler.isRough && random.chance(probability);
  const unknown = (stream: string) => new StoreUnavailable(`no answer to append to ${stream}`, true);
  const silent = () => new StoreUnavailable('no answer', false);
  const call = <T>(asked: Call<T>): Promise<T> => callOver(scheduler, life, 'eventStore', asked);
  const look = <T>(label: string, effect: Call<T>['effect']): Promise<T> =>
    call({ label, effect, gone: silent });

  const append = async (
    stream: string,
    expected: ExpectedRevision,
    events: readonly EventToAppend[],
  ): Promise<AppendResult> => {
    if (strikes(REFUSED)) throw new StoreUnavailable('not ready', false);
    if (strikes(LOST)) throw unknown(stream);
    if (strikes(LATE)) {
      onTheWay.count += 1;
      scheduler.after(random.between(1, LATE_WITHIN_MS), `late append to ${stream}`, () => {
        onTheWay.count -= 1;
        store.append(stream, expected, events).catch(() => undefined);
      });
      throw unknown(stream);
    }
    const result = await store.append(stream, expected, events);
    if (strikes(UNHEARD)) throw unknown(stream);
    return result;
  };

  return {
    append: (stream, expected, events) => {
      const label = `append ${events.map(({ type }) => type).join('+')} to ${stream}`;
      const effect = () => append(stream, expected, events);
      return call({ label, effect, gone: () => unknown(stream), kind: 'write' });
    },
    async *read(stream, options) {
      const found = await look(`read ${stream}`, async () => {
        if (strikes(READ_FAILS)) throw new StoreUnavailable('not reachable', false);
        return collect(store.read(stream, options));
      });
      yield* found;
    },
    async *readAll(options) {
      yield* await look('read the log', () => collect(store.readAll(options)));
    },
    serverTime: () => store.serverTime(),
    subscribe: () => {
      throw new TypeError('The simulation follows the log by reading it');
    },
    head: () => look('head', () => store.head()),
    end: () => look('end', () => store.end()),
    close: async () => undefined,
  };
};

const collect = async <T>(items: AsyncIterable<T>): Promise<T[]> => {
  const all: T[] = [];
  for await (const item of items) all.push(item);
  return all;
};
