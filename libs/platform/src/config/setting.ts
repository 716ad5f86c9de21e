import { z } from 'zod';

/** One environment variable: its type and default, and the sentence `--help` prints for it. */
export const setting = <S extends z.ZodType>(schema: S, description: string): S =>
  schema.describe(description);

/** A positive whole number; the description names no unit. */
export const milliseconds = (fallback: number, description: string) =>
  setting(z.coerce.number().int().positive().default(fallback), `${description} (ms)`);
/** A whole number, `minimum` or more. */
export const count = (fallback: number, description: string, minimum = 1) =>
  setting(z.coerce.number().int().min(minimum).default(fallback), description);
/** 1 or true, 0 or false; default 0. */
export const flag = (description: string) =>
  setting(
    z
      .enum(['0', '1', 'true', 'false'])
      .default('0')
      .transform((text) => text === '1' || text === 'true'),
    description,
  );
