import { z } from 'zod';

/** One environment variable: its type and default, and the sentence `--help` prints for it. */
export const setting = <S extends z.ZodType>(schema: S, description: string): S =>
  schema.describe(description);

/** The longest delay of Node's timers (ms). They take a longer one for 1 ms. */
export const LONGEST_TIMER_MS = 2 ** 31 - 1;
/** A hundred years. What is further away from now leaves what PostgreSQL or JavaScript can represent sooner or later. */
const MAX_DAYS = 36_500;
const MAX_SPAN_MS = MAX_DAYS * 86_400_000;

const shown = (bound: number): string => bound.toLocaleString('en-US');

/** Decimal digits, and nothing that `Number` takes besides: space for 0, `0x10` for 16, `1e3` for 1,000. */
const DIGITS = /^ *\d+ *$/;

/** A whole number in decimal digits, within both bounds. A fault names them. */
export const wholeNumber = (minimum: number, maximum = Number.MAX_SAFE_INTEGER) => {
  const isOpen = maximum === Number.MAX_SAFE_INTEGER;
  const error = isOpen
    ? `must be a whole number, ${shown(minimum)} or more`
    : `must be a whole number from ${shown(minimum)} to ${shown(maximum)}`;
  return z
    .string()
    .regex(DIGITS, error)
    .transform(Number)
    .refine((number) => number >= minimum && number <= maximum, error);
};

/**
 * A time that a timer takes; the description names no unit.
 * @param times how much longer than the setting the longest timer is that is made of it
 */
export const milliseconds = (fallback: number, description: string, times = 1) =>
  setting(wholeNumber(1, Math.floor(LONGEST_TIMER_MS / times)).default(fallback), `${description} (ms)`);
/** A time that is only compared with others or added to an instant, never a timer: a hundred years at most. */
export const span = (fallback: number, description: string, minimum = 1) =>
  setting(wholeNumber(minimum, MAX_SPAN_MS).default(fallback), `${description} (ms)`);
/** Pauses that are added to instants, comma-separated. */
export const spans = (fallback: string, description: string) =>
  setting(
    z
      .string()
      .default(fallback)
      .transform((text) => text.split(',').map((part) => (DIGITS.test(part) ? Number(part) : Number.NaN)))
      .refine(
        (steps) => steps.every((step) => step <= MAX_SPAN_MS),
        `must be whole numbers from 0 to ${shown(MAX_SPAN_MS)}, comma-separated`,
      ),
    `${description}, comma-separated (ms)`,
  );
/** Whole days, a hundred years at most; the description names the unit. */
export const days = (fallback: number, description: string, minimum = 1) =>
  setting(wholeNumber(minimum, MAX_DAYS).default(fallback), description);
/** A whole number, `minimum` or more. */
export const count = (fallback: number, description: string, minimum = 1) =>
  setting(wholeNumber(minimum).default(fallback), description);
/** 1 or true, 0 or false; default 0. */
export const flag = (description: string) =>
  setting(
    z
      .enum(['0', '1', 'true', 'false'])
      .default('0')
      .transform((text) => text === '1' || text === 'true'),
    description,
  );
