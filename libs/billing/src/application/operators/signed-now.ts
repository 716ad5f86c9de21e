/** Between signing and recording (milliseconds). A signature that somebody kept for later is refused. */
export const SIGNED_WITHIN_MS = 600_000;

/** @param at RFC 3339 @param now milliseconds */
export const isSignedNow = (at: string, now: number): boolean =>
  Math.abs(Date.parse(at) - now) <= SIGNED_WITHIN_MS;
