import { Problem } from './problem.js';

/** The Idempotency-Key header: absent, or 1–255 printable ASCII characters. @throws Problem validation_failed */
export const readIdempotencyKey = (header: string | undefined): string | null => {
  if (header === undefined) return null;
  if (/^[\x20-\x7e]{1,255}$/.test(header)) return header;
  throw new Problem('validation_failed', {
    detail: 'Idempotency-Key must be 1 to 255 printable ASCII characters',
  });
};
