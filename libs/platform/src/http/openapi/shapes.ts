import { z } from 'zod';

/** RFC 3339, UTC, milliseconds. */
export const instant = () =>
  z.string().meta({
    format: 'date-time',
    pattern: String.raw`^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{3}Z$`,
  });
export const uuid = () => z.string().meta({ format: 'uuid' });
export const count = () => z.int().min(0);
/** A string that matches a regular expression. */
export const text = (pattern: RegExp) => z.string().meta({ pattern: pattern.source });
