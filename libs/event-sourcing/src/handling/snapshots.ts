import type { Loaded } from './folded.js';

/**
 * Where folds of long streams are kept between processes, so that one that starts need not read all of them. Only for
 * streams with a hash chain, which tells whether a snapshot still fits its stream. It may lose them at any time.
 */
export interface Snapshots<S> {
  /** Events of a stream between two snapshots. */
  readonly every: bigint;
  /** What was kept last, if the same fold made it and nobody has changed it since; otherwise `null`. Never rejects. */
  find(stream: string): Promise<Loaded<S> | null>;
  /** Takes the fold as it is when it is called. Never rejects: what could not be kept is kept later. */
  keep(stream: string, loaded: Loaded<S>): Promise<void>;
}
