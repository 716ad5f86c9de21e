import type { Principal } from './authentication.js';

/** The mode of what a caller makes and sees: true live, false test, `null` both (a bearer token). */
export const livemodeOf = ({ sees }: Principal): boolean | null =>
  sees.length > 1 ? null : sees[0] === 'live';

/** Whether a caller sees what is of this mode. For a key, what is of the other mode does not exist. */
export const seesMode = (caller: Principal, livemode: boolean): boolean =>
  (livemodeOf(caller) ?? livemode) === livemode;
