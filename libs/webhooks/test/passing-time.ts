import { eventually } from './receiver.js';

/** A clock that a test sets, in milliseconds since the epoch. */
export interface SetClock {
  at: number;
  now(): number;
}

const TICK_MS = 10;

/**
 * Waits until the condition holds, while the clock goes on. A worker that waits long for the processor gives a queue back
 * unsent, and takes it again after a pause. By a clock that stands still, that pause would never end.
 */
export const eventuallyBy = (clock: SetClock, condition: () => boolean | Promise<boolean>): Promise<void> =>
  eventually(() => {
    clock.at += TICK_MS;
    return condition();
  });
