import type { z } from 'zod';
import { span } from '../config/setting.js';

/** How far clocks may differ. */
export const clockSettings = {
  CLOCK_WARN_MS: span(
    2_000,
    'the clocks of a process, PostgreSQL and the event store that differ by more cause a warning',
  ),
  CLOCK_REFUSE_MS: span(
    10_000,
    'while those clocks differ by more, the process does no work that time causes, and changes no credit book (503)',
  ),
  CLOCK_CHECK_EVERY_MS: span(5_000, 'how often each process compares the clocks'),
};

interface Bounds {
  readonly CLOCK_WARN_MS: number;
  readonly CLOCK_REFUSE_MS: number;
}

export const requireBoundsInOrder = (
  { CLOCK_WARN_MS, CLOCK_REFUSE_MS }: Bounds,
  context: z.RefinementCtx,
): void => {
  if (CLOCK_REFUSE_MS < CLOCK_WARN_MS)
    context.addIssue({
      code: 'custom',
      path: ['CLOCK_REFUSE_MS'],
      message: 'must be at least CLOCK_WARN_MS',
    });
};
