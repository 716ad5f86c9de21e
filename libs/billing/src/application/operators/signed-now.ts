/** Between signing and recording. A signature that somebody kept for later is refused. */
const WITHIN_MS = 600_000;

/** @param at RFC 3339 @param now milliseconds */
export const isSignedNow = (at: string, now: number): boolean => Math.abs(Date.parse(at) - now) <= WITHIN_MS;
