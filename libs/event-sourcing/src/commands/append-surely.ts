import { setTimeout as delay } from 'node:timers/promises';
import type { EventToAppend } from '../core/event.js';
import { StoreUnavailable, type WrongExpectedRevision } from '../store/errors.js';
import type { AppendResult, EventStore, ExpectedRevision } from '../store/event-store.js';

/** What a caller waits for an append while the store fails (ms). Clients of the API wait longer for an answer. */
const CALLERS_TIME_MS = 3_000;
const FIRST_PAUSE_MS = 20;
const LONGEST_PAUSE_MS = 400;

/** After this time (ms) without a failure, a new one is another fault. */
const FORGOTTEN_AFTER_MS = 30_000;

/** The appends of a store that had unknown outcomes, without an answer in between, by a monotonic clock (ms). */
const failing = new WeakMap<EventStore, { readonly since: number; readonly last: number }>();

/**
 * Repeats an append of unknown outcome with the same ids at the same revision, within the caller's time: the answer
 * settles the outcome. The store drops an append while another process appends the same event, and stores end calls when
 * they stop or elect a leader. Once appends have failed for longer than that, each is repeated once only, so that callers
 * do not pile up.
 * @throws WrongExpectedRevision when another event stands there
 * @throws StoreUnavailable
 */
export const appendSurely = async (
  store: EventStore,
  stream: string,
  expected: ExpectedRevision,
  events: readonly EventToAppend[],
  callersTimeMs = CALLERS_TIME_MS,
): Promise<AppendResult> => {
  let pauseMs = FIRST_PAUSE_MS;
  let unknown: StoreUnavailable | null = null;
  for (let attempt = 1; ; attempt += 1) {
    const begunAt = performance.now();
    try {
      const result = await store.append(stream, expected, events);
      failing.delete(store);
      return result;
    } catch (error) {
      if (!(error instanceof StoreUnavailable)) {
        failing.delete(store);
        throw error;
      }
      // A repeat that did not reach the store says nothing of the attempt before it.
      unknown = error.outcomeUnknown ? error : unknown;
      if (unknown === null) throw error;
      const known = failing.get(store);
      const since = known && begunAt - known.last < FORGOTTEN_AFTER_MS ? known.since : begunAt;
      const last = performance.now();
      failing.set(store, { since, last });
      if (attempt > 1 && last - since >= callersTimeMs) throw unknown;
    }
    await delay(pauseMs * Math.random());
    pauseMs = Math.min(LONGEST_PAUSE_MS, pauseMs * 2);
  }
};

/** The first pause between two reads, the longest, and all of them together (ms). */
const FIRST_LOOK_MS = 10;
const LONGEST_LOOK_MS = 320;
const LOOKS_MS = 2_000;

/**
 * Reads a stream after a conflict. A cluster's leader refuses an append because of a rival's that no quorum has yet, and
 * reads do not show that one. They are repeated with growing pauses until they show more, for 2 s of pauses at most.
 */
export const readPastRival = async <T extends { readonly revision: ExpectedRevision }>(
  { expected, actual }: WrongExpectedRevision,
  read: () => Promise<T>,
): Promise<T> => {
  let [longestMs, pausedMs] = [FIRST_LOOK_MS, 0];
  for (;;) {
    const found = await read();
    if (found.revision !== expected || !isAhead(actual, expected) || pausedMs >= LOOKS_MS) return found;
    const pauseMs = longestMs * (0.5 + Math.random() / 2);
    await delay(pauseMs);
    pausedMs += pauseMs;
    longestMs = Math.min(LONGEST_LOOK_MS, 2 * longestMs);
  }
};

/** Whether a stream at one revision has more events than at the other. */
export const isAhead = (one: ExpectedRevision, other: ExpectedRevision): boolean =>
  one !== 'no_stream' && (other === 'no_stream' || one > other);
