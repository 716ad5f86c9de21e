import type { LedgerDifference } from '../contracts/audit.js';

/** Something found, and the position in the log where it shows. */
export interface Placed<T> {
  readonly position: bigint;
  readonly found: T;
}

export const byPosition = (a: { readonly position: bigint }, b: { readonly position: bigint }): number =>
  a.position < b.position ? -1 : a.position > b.position ? 1 : 0;

/** What the log lacks at its end. It is pending while it is young. */
export interface Missing {
  /** Position of the book's or the reading's first event: reports are in this order. */
  readonly position: bigint;
  /** Milliseconds: since when. `null`: it is a difference at any age. */
  readonly since: number | null;
  readonly difference: LedgerDifference;
}

export const differenceOf = (
  kind: LedgerDifference['kind'],
  workspaceId: string,
  message: string,
  ids: Partial<Pick<LedgerDifference, 'readingId' | 'creditsEventId' | 'readingEventId'>>,
): LedgerDifference => ({
  kind,
  workspaceId,
  readingId: null,
  creditsEventId: null,
  readingEventId: null,
  ...ids,
  message,
});

interface Fact {
  readonly position: bigint;
  readonly readingId: string;
}

interface Completed extends Fact {
  readonly kind: 'completed';
  readonly workspaceId: string;
  readonly eventId: string;
  readonly reservationId: string;
  /** Milliseconds. */
  readonly at: number;
  /** `null`: the log has no request. */
  readonly cost: number | null;
  /** As the request names it. */
  readonly requestedBy: string;
  /** Position of the request, or of this event without one. */
  readonly firstPosition: bigint;
  /** Its settlement is passed over by an operator's decision. */
  readonly isExcused: boolean;
}

interface Captured extends Fact {
  readonly kind: 'captured';
  readonly workspaceId: string;
  readonly eventId: string;
  readonly causeEventId: string;
  readonly reservationId: string;
  readonly amount: number;
}

/** The reading failed, or was requested again: what was before no longer counts. */
interface Ended extends Fact {
  readonly kind: 'ended';
}

/** What happened to a reading, as far as its credits are concerned. */
export type ReadingFact = Completed | Captured | Ended;

interface Completion {
  readonly first: Completed;
  isExcused: boolean;
  captureEventId?: string;
}

/**
 * Matches captures with completed readings. Facts may arrive in any order; each reading is judged in log order.
 *
 * Keeps the facts of readings that are under way or do not agree. Of a completed reading and its capture that agree, it
 * remembers only that there were such facts. Should another one follow, the caller has to `recall` them.
 */
export class Settlements {
  private readonly facts = new Map<string, ReadingFact[]>();
  private readonly again = new Set<string>();
  captures = 0;
  completed = 0;

  /** @param settled `null`: keeps the facts of all readings, for short logs */
  constructor(private readonly settled: SettledReadings | null = new SettledReadings()) {}

  /** Readings with facts after they were settled. Their earlier facts are needed again before `judge`. */
  get reopened(): ReadonlySet<string> {
    return this.again;
  }

  add(fact: ReadingFact): void {
    if (fact.kind === 'captured') this.captures += 1;
    if (fact.kind === 'completed') this.completed += 1;
    const { readingId } = fact;
    const facts = [...(this.facts.get(readingId) ?? []), fact];
    if (this.settled?.has(readingId)) this.again.add(readingId);
    else if (this.settled && isSettled(facts)) {
      this.settled.add(readingId);
      this.facts.delete(readingId);
      return;
    }
    this.facts.set(readingId, facts);
  }

  /** Takes a fact of a reopened reading that was added before, and perhaps forgotten. */
  recall(fact: ReadingFact): void {
    const facts = this.facts.get(fact.readingId) ?? [];
    if (!facts.some((one) => isSame(one, fact))) this.facts.set(fact.readingId, [...facts, fact]);
  }

  judge(): { differences: Placed<LedgerDifference>[]; missing: Missing[] } {
    const differences: Placed<LedgerDifference>[] = [];
    const missing: Missing[] = [];
    for (const facts of this.facts.values()) {
      const completion = judgeReading(facts.toSorted(byPosition), differences);
      if (!completion || completion.captureEventId !== undefined || completion.isExcused) continue;
      const { firstPosition, at, requestedBy, readingId, eventId } = completion.first;
      const message = 'the reading is completed, but no credits were captured for it';
      const ids = { readingId, readingEventId: eventId };
      const difference = differenceOf('not_captured', requestedBy, message, ids);
      missing.push({ position: firstPosition, since: at, difference });
    }
    return { differences, missing };
  }
}

/** Whether they are a completed reading and its capture, and agree. */
const isSettled = (facts: readonly ReadingFact[]): boolean => {
  const [first, second] = facts.toSorted(byPosition);
  if (facts.length !== 2 || first?.kind !== 'completed' || second?.kind !== 'captured') return false;
  const findings: Placed<LedgerDifference>[] = [];
  judgeReading([first, second], findings);
  return findings.length === 0 && first.workspaceId === second.workspaceId;
};

const isSame = (one: ReadingFact, other: ReadingFact): boolean =>
  one.kind === other.kind &&
  one.position === other.position &&
  (one.kind === 'ended' || other.kind === 'ended' || one.eventId === other.eventId);

const judgeReading = (
  facts: readonly ReadingFact[],
  differences: Placed<LedgerDifference>[],
): Completion | null => {
  let completion: Completion | null = null;
  for (const fact of facts) {
    if (fact.kind === 'ended') completion = null;
    else if (fact.kind === 'captured') capture(fact, completion, differences);
    else if (completion) {
      completion.isExcused ||= fact.isExcused;
      const { position, workspaceId, readingId, eventId } = fact;
      const ids = { readingId, readingEventId: eventId };
      const message = 'the reading was completed before';
      differences.push({
        position,
        found: differenceOf('completed_twice', workspaceId, message, ids),
      });
    } else completion = { first: fact, isExcused: fact.isExcused };
  }
  return completion;
};

const capture = (
  { position, workspaceId, readingId, eventId, causeEventId, reservationId, amount }: Captured,
  completion: Completion | null,
  differences: Placed<LedgerDifference>[],
): void => {
  const ids = {
    readingId,
    creditsEventId: eventId,
    readingEventId: completion?.first.eventId ?? causeEventId,
  };
  const differs = (kind: LedgerDifference['kind'], message: string): void => {
    differences.push({ position, found: differenceOf(kind, workspaceId, message, ids) });
  };
  if (!completion) {
    differs('not_completed', 'credits were captured for a reading that is not completed');
    return;
  }
  if (completion.captureEventId !== undefined) {
    differs('captured_twice', `credits were captured before, by event ${completion.captureEventId}`);
    return;
  }
  completion.captureEventId = eventId;
  const { first } = completion;
  if (first.eventId !== causeEventId)
    differs('fields_differ', 'the capture names another event as its cause');
  if (first.reservationId !== reservationId) differs('fields_differ', 'the reservations are not the same');
  if (first.requestedBy !== workspaceId) differs('fields_differ', 'the workspaces are not the same');
  if (first.cost !== null && first.cost !== amount) {
    differs('fields_differ', `${amount} credits were captured, the reading costs ${first.cost}`);
  }
};

/** Grows when more of its places are taken. */
const MOST_TAKEN = 0.6;

/**
 * Readings that are completed and captured as they should be, by a fingerprint of 64 bits: 13 to 27 bytes each, whatever
 * their ids. It may say that it has a reading which it has not, about once in 10^19 / readings: callers look again.
 */
export class SettledReadings {
  /** Two words each; both 0: the place is free. */
  private table = new Uint32Array(2 * 1_024);
  private taken = 0;

  add(readingId: string): void {
    if (this.taken + 1 > MOST_TAKEN * (this.table.length / 2)) this.grow();
    const [high, low] = fingerprint(readingId);
    if (put(this.table, high, low)) this.taken += 1;
  }

  has(readingId: string): boolean {
    const [high, low] = fingerprint(readingId);
    const at = placeOf(this.table, high, low);
    return this.table[at] !== 0 || this.table[at + 1] !== 0;
  }

  get bytes(): number {
    return this.table.byteLength;
  }

  private grow(): void {
    const old = this.table;
    this.table = new Uint32Array(old.length * 2);
    for (let at = 0; at < old.length; at += 2)
      if (old[at] !== 0 || old[at + 1] !== 0) put(this.table, old[at]!, old[at + 1]!);
  }
}

/** The place of a fingerprint, or the free one where it belongs. The size is a power of two. */
const placeOf = (table: Uint32Array, high: number, low: number): number => {
  const mask = table.length - 1;
  let at = (low * 2) & mask;
  while ((table[at] !== high || table[at + 1] !== low) && (table[at] !== 0 || table[at + 1] !== 0))
    at = (at + 2) & mask;
  return at;
};

/** @returns whether it is new */
const put = (table: Uint32Array, high: number, low: number): boolean => {
  const at = placeOf(table, high, low);
  const isNew = table[at] === 0 && table[at + 1] === 0;
  table[at] = high;
  table[at + 1] = low;
  return isNew;
};

/** Two hashes of 32 bits (cyrb53). Never both 0. */
const fingerprint = (text: string): readonly [high: number, low: number] => {
  let high = 0xde_ad_be_ef;
  let low = 0x41_c6_ce_57;
  for (let index = 0; index < text.length; index += 1) {
    const code = text.charCodeAt(index);
    high = Math.imul(high ^ code, 2_654_435_761);
    low = Math.imul(low ^ code, 1_597_334_677);
  }
  high = Math.imul(high ^ (high >>> 16), 2_246_822_507) ^ Math.imul(low ^ (low >>> 13), 3_266_489_909);
  low = Math.imul(low ^ (low >>> 16), 2_246_822_507) ^ Math.imul(high ^ (high >>> 13), 3_266_489_909);
  return [high >>> 0 || 1, low >>> 0];
};
