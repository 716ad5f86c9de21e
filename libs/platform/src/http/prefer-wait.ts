/** Longest wait that a caller can request (seconds). */
export const LONGEST_WAIT_S = 60;

/**
 * The seconds of `Prefer: wait=N` (RFC 7240), at most 60; 0 when absent or not understood, because a preference may be
 * ignored.
 */
export const preferredWait = (prefer: string | undefined): number => {
  const [, seconds] = /(?:^|[,;\s])wait\s*=\s*"?(\d{1,4})"?\s*(?:$|[,;])/i.exec(prefer ?? '') ?? [];
  return seconds === undefined ? 0 : Math.min(Number(seconds), LONGEST_WAIT_S);
};
