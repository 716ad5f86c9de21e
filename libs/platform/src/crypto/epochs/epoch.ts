import { createHmac } from 'node:crypto';

/** A period in which one key-encryption key wraps. Milliseconds since 1970, UTC. */
export interface Epoch {
  /** Its start, such as `20261116T000000Z`; no id of ENCRYPTION_KEYS has this form. */
  readonly id: string;
  readonly startsAt: number;
  readonly endsAt: number;
}

/** The first Monday after 1970-01-01, so that epochs of a week start on Mondays. */
const FIRST_MONDAY_MS = 4 * 86_400_000;
const SECOND_MS = 1_000;

const idOf = (startsAt: number): string =>
  new Date(startsAt)
    .toISOString()
    .replace(/\.\d{3}Z$/, 'Z')
    .replace(/[-:]/g, '');

/**
 * The epoch that starts at or before `now`. Epochs of one length are contiguous. None starts before the previous one
 * has ended, so that a changed length or an early end never yields two epochs with one name.
 * @param lengthMs at least a second
 * @param after when the previous epoch ended; 0 without one
 */
export const epochAt = (now: number, lengthMs: number, after: number): Epoch => {
  const aligned = now - ((now - FIRST_MONDAY_MS) % lengthMs);
  const startsAt = Math.ceil(Math.max(aligned, after) / SECOND_MS) * SECOND_MS;
  // A previous end just before the regular boundary would leave an epoch of almost no time.
  const endsAt = Math.max(aligned + lengthMs, startsAt + SECOND_MS);
  return { id: idOf(startsAt), startsAt, endsAt };
};

const EPOCH_ID = /^(\d{4})(\d{2})(\d{2})T(\d{2})(\d{2})(\d{2})Z$/;

/** When the epoch of this name started; `null` for any other name. */
export const startOf = (id: string): number | null => {
  const parts = EPOCH_ID.exec(id);
  if (!parts) return null;
  const [, year, month, day, hour, minute, second] = parts;
  const at = Date.parse(`${year}-${month}-${day}T${hour}:${minute}:${second}Z`);
  return Number.isNaN(at) ? null : at;
};

/** Distinguishes two keys of the same name without revealing either (HMAC-SHA-256, truncated to 128 bits). */
export const fingerprintOf = (id: string, key: Uint8Array): Buffer =>
  createHmac('sha256', key).update(`key-epoch|${id}`).digest().subarray(0, 16);
