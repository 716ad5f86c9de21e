import { isSoftDeleted, NO_EVENTS, type StreamHead } from './stream-head.js';

/** The revision a writer expects its stream to be at. */
export type ExpectedRevision = bigint | 'any' | 'no_stream' | 'stream_exists';

/** Where an event with a certain id was put. */
export interface PlacedEvent {
  readonly revision: bigint;
  readonly position: bigint;
}

/** What the decision needs to know about a stream. */
export interface StreamFacts {
  /** Undefined when nothing was ever written about the stream. */
  readonly head: StreamHead | undefined;
  /** Whether the stream, or the stream that it is the metadata of, is tombstoned. */
  readonly closed: boolean;
  /** Whether its metadata stream has events: such a stream "exists" even without events of its own. */
  readonly hasMetadata: boolean;
  /** A recent event of this stream by its id. */
  readonly recent: (id: string) => PlacedEvent | undefined;
  /** The event at a revision of this stream, with its id. */
  readonly at: (revision: bigint) => (PlacedEvent & { readonly id: string }) | undefined;
}

export type AppendDecision =
  | { readonly kind: 'accept'; readonly revives: boolean }
  /** The same events were appended before: answer as then. */
  | { readonly kind: 'repeated'; readonly last: PlacedEvent }
  | { readonly kind: 'conflict' }
  /** Tombstoned, or soft-deleted and expected to exist. */
  | { readonly kind: 'deleted' };

const CONFLICT: AppendDecision = { kind: 'conflict' };

/** Revision that a writer's expectation stands for; undefined for those that compare none. */
const exactRevision = (expected: ExpectedRevision): bigint | undefined => {
  if (typeof expected === 'bigint') return expected;
  return expected === 'no_stream' ? NO_EVENTS : undefined;
};

/**
 * Decides an append as EventStoreDB's IndexWriter.CheckCommit does: a write that was already made is recognised by
 * its event ids (recent ids for `any` and `stream_exists`, the events after the expected revision otherwise), and
 * a soft-deleted stream may be started anew with `no_stream`.
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
  const exact = exactRevision(expected);
  if (exact === undefined) {
    if (expected === 'stream_exists') {
      if (revives) return { kind: 'deleted' };
      if (current === NO_EVENTS && !facts.hasMetadata) return CONFLICT;
    }
    return decideByRecentIds(facts, ids, revives);
  }
  if (exact > current) return CONFLICT;
  if (exact === current) return { kind: 'accept', revives };
  return decideByFollowingEvents(facts, exact, ids, revives);
};

const decideByRecentIds = (facts: StreamFacts, ids: readonly string[], revives: boolean): AppendDecision => {
  let last: PlacedEvent | undefined;
  for (const [index, id] of ids.entries()) {
    const placed = facts.recent(id);
    if (!placed) return index === 0 ? { kind: 'accept', revives } : CONFLICT;
    last = placed;
  }
  return last ? { kind: 'repeated', last } : { kind: 'accept', revives };
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

/** Decides a soft delete or a tombstone; both need no ids. */
export const decideDelete = (
  facts: Pick<StreamFacts, 'head' | 'closed' | 'hasMetadata'>,
  expected: ExpectedRevision,
): 'accept' | 'conflict' | 'deleted' => {
  const { head, closed, hasMetadata } = facts;
  if (closed) return 'deleted';
  const current = head?.last ?? NO_EVENTS;
  if (expected === 'any') return 'accept';
  if (expected === 'stream_exists') return current === NO_EVENTS && !hasMetadata ? 'conflict' : 'accept';
  if (expected === 'no_stream') return current === NO_EVENTS && hasMetadata ? 'accept' : 'conflict';
  return expected === current ? 'accept' : 'conflict';
};
