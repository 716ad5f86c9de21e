import { setTimeout as delay } from 'node:timers/promises';
import type { WrongExpectedRevision } from '../store/errors.js';
import type { ExpectedRevision } from '../store/event-store.js';

/** The first pause between two reads, the longest, and all of them together (ms). */
const FIRST_PAUSE_MS = 10;
const LONGEST_PAUSE_MS = 320;
const PAUSES_MS = 2_000;

/**
 * Reads a stream after a conflict. A cluster's leader refuses an append because of a rival's that no quorum has yet, and
 * reads do not show that one. They are repeated with growing pauses until they show more, for 2 s of pauses at most.
 */
export const readPastRival = async <T extends { readonly revision: ExpectedRevision }>(
  { expected, actual }: WrongExpectedRevision,
  read: () => Promise<T>,
): Promise<T> => {
  let [longestMs, pausedMs] = [FIRST_PAUSE_MS, 0];
  for (;;) {
    const found = await read();
    if (found.revision !== expected || !isAhead(actual, expected) || pausedMs >= PAUSES_MS) return found;
    const pauseMs = longestMs * (0.5 + Math.random() / 2);
    await delay(pauseMs);
    pausedMs += pauseMs;
    longestMs = Math.min(LONGEST_PAUSE_MS, 2 * longestMs);
  }
};

/** Whether a stream at one revision has more events than at the other. */
export const isAhead = (one: ExpectedRevision, other: ExpectedRevision): boolean =>
  one !== 'no_stream' && (other === 'no_stream' || one > other);
