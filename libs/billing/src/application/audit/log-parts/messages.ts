import type { LogPart } from './log-part.js';

/** A call of one of the part's methods. They are answered in order. */
export interface ThreadCall {
  readonly method: keyof LogPart;
  readonly argument: unknown;
}

/** A thread reaches neither store nor database, so what it throws is a bug. */
export type ThreadAnswer = { readonly returned: unknown } | { readonly thrown: Error };
