import { isSoftDeleted, NO_EVENTS, type StreamHead } from './stream-head.js';

/** The revision that a writer expects of its stream. */
export type ExpectedRevision = bigint | 'any' | 'no_stream' | 'stream_exists';

/** Where an event with a given id was placed. */
export interface PlacedEvent {
  readonly revision: bigint;
  readonly position: bigint;
}

/** The facts about a stream on which the decision is based. */
export interface StreamFacts {
  /** Undefined if nothing was ever written for the stream. */
  readonly head: StreamHead | undefined;
  /** Whether the stream is tombstoned, or is the metadata stream of a tombstoned one. */
  readonly closed: boolean;
  /** Whether the metadata stream has events. The stream then "exists" even without events of its own. */
  readonly hasMetadata: boolean;
  /** Finds a recent event of this stream by its id. */
  readonly recent: (id: string) => PlacedEvent | undefined;
  /** The event at a revision of this stream, with its id. */
  readonly at: (revision: bigint) => (PlacedEvent & { readonly id: string }) | undefined;
}

export type AppendDecision =
  | { readonly kind: 'accept'; readonly revives: boolean }
  /** The same events were appended before: respond as to the first append. */
  | { readonly kind: 'repeated'; readonly last: PlacedEvent }
  | { readonly kind: 'conflict' }
  /** Tombstoned, or soft-deleted while the writer expects it to exist. */
  | { readonly kind: 'deleted' };

export type RemoveDecision = 'accept' | 'conflict' | 'deleted';

const CONFLICT: AppendDecision = { kind: 'conflict' };

/** The revision of an expectation; undefined for expectations that compare none. */
const exactRevision = (expected: ExpectedRevision): bigint | undefined => {
  if (typeof expected === 'bigint') return expected;
  return expected === 'no_stream' ? NO_EVENTS : undefined;
};

/**
 * Decides an append as EventStoreDB's IndexWriter.CheckCommit does. It recognises a repeated write by its
 * event ids: recent ids for `any` and `stream_exists`, otherwise the events after the expected revision. A
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

/** Decides a tombstone: as the append of one event whose id the stream does not have. */
export const decideTombstone = (facts: StreamFacts, expected: ExpectedRevision): RemoveDecision => {
  const { kind } = decideAppend(facts, expected, [A_NEW_ID]);
  return kind === 'repeated' ? 'conflict' : kind;
};

/** Decides a soft delete: as a tombstone, but a stream without events and metadata has nothing to hide. */
export const decideDelete = (facts: StreamFacts, expected: ExpectedRevision): RemoveDecision => {
  const decision = decideTombstone(facts, expected);
  const isEmpty = (facts.head?.last ?? NO_EVENTS) === NO_EVENTS && !facts.hasMetadata;
  return decision === 'accept' && isEmpty ? 'conflict' : decision;
};

/** No event has it: ids are UUIDs. */
const A_NEW_ID = 'new';
