import type { ExpectedRevision } from '../store/event-store.js';

/** A folded stream: its state, the revision of its last event, and the end of its hash chain. */
export interface Folded<S> {
  state: S;
  revision: ExpectedRevision;
  chain: string;
  /** When its last event happened, and when the store recorded it (ms since the epoch; unknown: Infinity). */
  last: { readonly occurredAt: number; readonly recordedAt: number } | null;
  /** Of its events; empty before the first. */
  workspaceId: string;
}
