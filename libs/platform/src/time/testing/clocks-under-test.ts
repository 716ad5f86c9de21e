import type { ClockVerdict, TrustedTime } from '../trusted-time.js';

const judged = (
  verdict: Pick<ClockVerdict, 'level' | 'message'>,
): Pick<TrustedTime, 'compare' | 'isTrusted'> => ({
  compare: () => Promise.resolve({ apartMs: 0, wrong: null, ...verdict }),
  isTrusted: () => Promise.resolve(verdict.level === 'trusted'),
});

/** Clocks as they are found on a good day, and on a bad one. */
export const AGREEING = judged({ level: 'trusted', message: 'the clocks agree' });
export const DIFFERING = judged({ level: 'refused', message: 'the clocks differ' });
