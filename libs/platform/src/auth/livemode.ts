import type { Mode } from '#event-sourcing/core/request-context.js';
import type { Principal } from './authentication.js';

export const modeOf = (livemode: boolean): Mode => (livemode ? 'live' : 'test');

/** Which mode a caller sees: true live, false test, `null` both (a bearer token that names none). */
export const livemodeOf = ({ sees }: Pick<Principal, 'sees'>): boolean | null =>
  sees.length === 1 ? sees[0] === 'live' : null;

/** Whether a caller sees what is of this mode. For a key, what is of the other mode does not exist. */
export const seesMode = ({ sees }: Pick<Principal, 'sees'>, livemode: boolean): boolean =>
  sees.includes(modeOf(livemode));
