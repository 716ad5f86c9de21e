import type { Principal } from './authentication.js';

/** The mode of what a caller makes and sees: true live, false test, `null` both (a bearer token). */
export const livemodeOf = ({ mode }: Principal): boolean | null => (mode === 'bearer' ? null : true);

/** Whether a caller sees what is of this mode. For a key, what is of the other mode does not exist. */
export const seesMode = (caller: Principal, livemode: boolean): boolean =>
  (livemodeOf(caller) ?? livemode) === livemode;
