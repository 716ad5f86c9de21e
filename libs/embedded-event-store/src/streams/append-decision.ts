import { isSoftDeleted, NO_EVENTS, type StreamHead } from './stream-head.js';

/** The revision that a writer expects of its stream. */
export type ExpectedRevision = bigint | 'any' | 'no_stream';

/** An event, and where it was placed. */
export interface PlacedEvent {
  readonly id: string;
  readonly revision: bigint;
  readonly position: bigint;
}

/** The facts about a stream on which the decision is based. */
export interface StreamFacts {
  /** Undefined if nothing was ever written for the stream. */
  readonly head: StreamHead | undefined;
  /** Whether the stream is tombstoned, or is the metadata stream of a tombstoned one. */
  readonly closed: boolean;
  /** The event at a revision of this stream. */
  readonly at: (revision: bigint) => PlacedEvent | undefined;
}

export type AppendDecision =
  | { readonly kind: 'accept'; readonly revives: boolean }
  /** The same events were appended before: respond as to the first append. */
  | { readonly kind: 'repeated'; readonly last: PlacedEvent }
  | { readonly kind: 'conflict' }
  /** Tombstoned. */
  | { readonly kind: 'deleted' };

export type RemoveDecision = 'accept' | 'conflict' | 'deleted';

const CONFLICT: AppendDecision = { kind: 'conflict' };

/**
 * Decides an append as EventStoreDB's IndexWriter.CheckCommit does. It recognises a repeated write by the ids of the
 * events after the expected revision; with `any`, EventStoreDB knows recent ids only, and this store none. A
 * soft-deleted stream accepts `no_stream` again.
 */
export const decideAppend = (
  facts: StreamFacts,
  expected: ExpectedRevision,
  ids: readonly string[],
): AppendDecision => {
  const { head } = facts;
  if (facts.closed) return { kind: 'deleted' };
  const current = head?.last ?? NO_EVENTS;
  const revives = head !== undefined && isSoftDeleted(head);
  if (expected === 'any') return { kind: 'accept', revives };
  const exact = expected === 'no_stream' ? NO_EVENTS : expected;
  if (exact > current) return CONFLICT;
  if (exact === current) return { kind: 'accept', revives };
  return decideByFollowingEvents(facts, exact, ids, revives);
};

const decideByFollowingEvents = (
  facts: StreamFacts,
  expected: bigint,
  ids: readonly string[],
  revives: boolean,
): AppendDecision => {
  let revision = expected;
  let last: PlacedEvent | undefined;
  for (const id of ids) {
    revision += 1n;
    const placed = facts.at(revision);
    if (placed?.id !== id) {
      const isFirst = revision === expected + 1n;
      return isFirst && expected === NO_EVENTS && revives ? { kind: 'accept', revives } : CONFLICT;
    }
    last = placed;
  }
  return last ? { kind: 'repeated', last } : CONFLICT;
};

/** Decides a soft delete or a tombstone: as the append of one event whose id the stream does not have. */
export const decideRemoval = (facts: StreamFacts, expected: ExpectedRevision): RemoveDecision => {
  const { kind } = decideAppend(facts, expected, [A_NEW_ID]);
  return kind === 'repeated' ? 'conflict' : kind;
};

/** No event has it: ids are UUIDs. */
const A_NEW_ID = 'new';
