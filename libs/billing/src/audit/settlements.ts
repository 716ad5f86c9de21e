import type { LedgerDifference } from '../contracts/audit.js';
import { byPosition, differenceOf, type Missing, type Placed } from './ledger-difference.js';
import { SettledReadings } from './settled-readings.js';

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
