import { z } from 'zod';

/** One entry for each of 1 to 9. */
export const perRoot = <T extends z.ZodType>(entry: T) =>
  z.strictObject({
    1: entry,
    2: entry,
    3: entry,
    4: entry,
    5: entry,
    6: entry,
    7: entry,
    8: entry,
    9: entry,
  });

/** One entry for each of 1 to 9 and the master numbers. */
export const perNumber = <T extends z.ZodType>(entry: T) =>
  perRoot(entry).extend({ 11: entry, 22: entry, 33: entry });
