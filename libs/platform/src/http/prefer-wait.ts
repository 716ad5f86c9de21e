/** Longest wait that a caller can request (seconds). */
const MAX_WAIT_S = 60;

/** A preference with its parameters; commas may stand in quotes. */
const PREFERENCES = /(?:[^,"]|"(?:[^"\\]|\\.)*"?)+/g;

/**
 * The seconds of `Prefer: wait=N` (RFC 7240), at most 60; 0 when absent or not understood, because a preference may be
 * ignored. Of several, the first one counts.
 */
export const preferredWait = (prefer: string | undefined): number => {
  for (const [preference] of (prefer ?? '').matchAll(PREFERENCES)) {
    const [name = '', value = ''] = preference.split(';', 1)[0]!.split('=');
    if (name.trim().toLowerCase() !== 'wait') continue;
    const seconds = value
      .trim()
      .replace(/^"(.*)"$/, (_, quoted: string) => quoted.replaceAll(/\\(.)/g, '$1'));
    return /^\d+$/.test(seconds) ? Math.min(Number(seconds), MAX_WAIT_S) : 0;
  }
  return 0;
};
