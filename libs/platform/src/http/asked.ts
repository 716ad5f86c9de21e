import type { ServerResponse } from 'node:http';

const ASKED = Symbol('asked');
type Marked = ServerResponse & { [ASKED]?: true };

/** Notes that the caller asked for this refusal (`ProblemOptions.isAsked`). */
export const setAsked = (response: ServerResponse): void => {
  (response as Marked)[ASKED] = true;
};

export const isAsked = (response: ServerResponse): boolean => (response as Marked)[ASKED] === true;
