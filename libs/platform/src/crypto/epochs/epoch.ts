import { createHmac } from 'node:crypto';

/** A stretch of time in which one key-encryption key wraps. Milliseconds since 1970, UTC. */
export interface Epoch {
  /** Its start, as `20261116T000000Z`: no id of ENCRYPTION_KEYS looks like it. */
  readonly id: string;
  readonly startsAt: number;
  readonly endsAt: number;
}

/** The first Monday after 1970-01-01: epochs of a week begin on Mondays. */
const FIRST_MONDAY_MS = 4 * 86_400_000;
const SECOND_MS = 1_000;

const idOf = (startsAt: number): string =>
  new Date(startsAt)
    .toISOString()
    .replace(/\.\d{3}Z$/, 'Z')
    .replace(/[-:]/g, '');

/**
 * The epoch that begins at or before `now`. Epochs of one length lie end to end, but none begins before the one before
 * it has ended, so that a change of their length, or an end before its time, makes no two of one name.
 * @param lengthMs at least a second
 * @param after when the epoch before ended; 0 without one
 */
export const epochAt = (now: number, lengthMs: number, after: number): Epoch => {
  const aligned = now - ((now - FIRST_MONDAY_MS) % lengthMs);
  const startsAt = Math.ceil(Math.max(aligned, after) / SECOND_MS) * SECOND_MS;
  // An end just before that of the length would leave an epoch of no time.
  const endsAt = Math.max(aligned + lengthMs, startsAt + SECOND_MS);
  return { id: idOf(startsAt), startsAt, endsAt };
};

const EPOCH_ID = /^(\d{4})(\d{2})(\d{2})T(\d{2})(\d{2})(\d{2})Z$/;

/** When the epoch of this name began; `null` for any other name. */
export const startOf = (id: string): number | null => {
  const parts = EPOCH_ID.exec(id);
  if (!parts) return null;
  const [, year, month, day, hour, minute, second] = parts;
  const at = Date.parse(`${year}-${month}-${day}T${hour}:${minute}:${second}Z`);
  return Number.isNaN(at) ? null : at;
};

/** Tells two keys of one name apart without saying anything about either (HMAC-SHA-256, cut to 128 bits). */
export const fingerprintOf = (id: string, key: Uint8Array): Buffer =>
  createHmac('sha256', key).update(`key-epoch|${id}`).digest().subarray(0, 16);
