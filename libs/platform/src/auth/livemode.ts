import type { Mode } from '#event-sourcing/core/request-context.js';
import type { Principal } from './authentication.js';

export const modeOf = (livemode: boolean): Mode => (livemode ? 'live' : 'test');

/** Whether a caller sees what is of this mode. For a key, what is of the other mode does not exist. */
export const seesMode = ({ sees }: Pick<Principal, 'sees'>, livemode: boolean): boolean =>
  sees.includes(modeOf(livemode));
