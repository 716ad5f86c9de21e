import type { LedgerDifference } from '../contracts/audit.js';
import { byPosition, differenceOf, type Missing, type Placed } from './ledger-difference.js';

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

/** What happened to a reading, as far as its credits are concerned. Plain data, because threads send it. */
export type ReadingFact = Completed | Captured | Ended;

interface Completion {
  readonly first: Completed;
  isExcused: boolean;
  captureEventId?: string;
}

/** A completed reading and its capture that agree, in half the memory of the two facts. */
interface Settled {
  readonly workspaceId: string;
  readonly eventId: string;
  readonly captureEventId: string;
  readonly reservationId: string;
  readonly amount: number;
  readonly at: number;
  readonly cost: number | null;
  readonly isExcused: boolean;
  readonly position: bigint;
  readonly firstPosition: bigint;
  readonly capturePosition: bigint;
}

/**
 * Matches captures with completed readings. Facts may arrive in any order; each reading is judged in log order. Keeps one
 * entry of ids per reading in memory.
 */
export class Settlements {
  private readonly facts = new Map<string, Settled | ReadingFact[]>();
  /** Each name once: those that arrive are copies. */
  private readonly workspaces = new Map<string, string>();
  captures = 0;
  completed = 0;

  add(fact: ReadingFact): void {
    if (fact.kind === 'captured') this.captures += 1;
    if (fact.kind === 'completed') this.completed += 1;
    const { readingId } = fact;
    const others = this.facts.get(readingId);
    if (!others) {
      this.facts.set(readingId, [fact]);
      return;
    }
    const facts = [...(Array.isArray(others) ? others : factsOf(readingId, others)), fact];
    this.facts.set(readingId, this.settled(facts) ?? facts);
  }

  judge(): { differences: Placed<LedgerDifference>[]; missing: Missing[] } {
    const differences: Placed<LedgerDifference>[] = [];
    const missing: Missing[] = [];
    for (const facts of this.facts.values()) {
      if (!Array.isArray(facts)) continue;
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

  /** `null` unless the facts are a completed reading and its capture, and agree. */
  private settled(facts: readonly ReadingFact[]): Settled | null {
    const [first, second] = facts.toSorted(byPosition);
    if (facts.length !== 2 || first?.kind !== 'completed' || second?.kind !== 'captured') return null;
    const findings: Placed<LedgerDifference>[] = [];
    judgeReading([first, second], findings);
    if (findings.length > 0 || first.workspaceId !== second.workspaceId) return null;
    const { workspaceId } = first;
    const name = this.workspaces.get(workspaceId) ?? workspaceId;
    this.workspaces.set(name, name);
    return {
      workspaceId: name,
      eventId: first.eventId,
      captureEventId: second.eventId,
      reservationId: first.reservationId,
      amount: second.amount,
      at: first.at,
      cost: first.cost,
      isExcused: first.isExcused,
      position: first.position,
      firstPosition: first.firstPosition,
      capturePosition: second.position,
    };
  }
}

const factsOf = (readingId: string, settled: Settled): ReadingFact[] => {
  const { workspaceId, eventId, captureEventId, reservationId, amount, capturePosition, ...rest } = settled;
  const own = { readingId, workspaceId, reservationId };
  return [
    { kind: 'completed', ...own, ...rest, eventId, requestedBy: workspaceId },
    {
      kind: 'captured',
      ...own,
      position: capturePosition,
      eventId: captureEventId,
      causeEventId: eventId,
      amount,
    },
  ];
};

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
