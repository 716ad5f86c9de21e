import type { IncomingMessage } from 'node:http';

const COUNTED = Symbol('counted');
type Counted = IncomingMessage & { [COUNTED]?: true };

/** Notes that a request has taken a token of its workspace, so the limits bound the number of such requests. */
export const setCounted = (request: IncomingMessage): void => {
  (request as Counted)[COUNTED] = true;
};

export const wasCounted = (request: IncomingMessage): boolean => (request as Counted)[COUNTED] === true;
