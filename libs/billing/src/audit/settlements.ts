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

/**
 * Matches captures with completed readings, in the order of the log. Of readings whose capture agrees it keeps two ids.
 */
export class Settlements {
  captures = 0;
  completed = 0;
  /** Completed and not captured, by reading. */
  private readonly open = new Map<string, Completed>();
  /** Event ids of a completion and of its first capture, by reading. */
  private readonly settled = new Map<string, readonly [completed: string, captured: string]>();
  private readonly differences: Placed<LedgerDifference>[] = [];

  /** @param fact the next one of the log */
  add(fact: ReadingFact): void {
    const { readingId } = fact;
    switch (fact.kind) {
      case 'ended':
        this.open.delete(readingId);
        this.settled.delete(readingId);
        return;
      case 'completed':
        this.completed += 1;
        return this.complete(fact);
      case 'captured':
        this.captures += 1;
        return this.capture(fact);
    }
  }

  judge(): { differences: readonly Placed<LedgerDifference>[]; missing: readonly Missing[] } {
    const missing = [...this.open.values()].flatMap((completed): Missing[] => {
      const { firstPosition: position, at: since, requestedBy, readingId, eventId, isExcused } = completed;
      if (isExcused) return [];
      const message = 'the reading is completed, but no credits were captured for it';
      const ids = { readingId, readingEventId: eventId };
      return [{ position, since, difference: differenceOf('not_captured', requestedBy, message, ids) }];
    });
    return { differences: this.differences, missing };
  }

  private complete(fact: Completed): void {
    const { readingId, eventId: readingEventId } = fact;
    const before = this.open.get(readingId);
    if (!before && !this.settled.has(readingId)) {
      this.open.set(readingId, fact);
      return;
    }
    if (before) this.open.set(readingId, { ...before, isExcused: before.isExcused || fact.isExcused });
    this.differ(fact, 'completed_twice', 'the reading was completed before', { readingEventId });
  }

  private capture(fact: Captured): void {
    const { readingId, eventId: creditsEventId, causeEventId, amount } = fact;
    const completed = this.open.get(readingId);
    const [completedId, capturedId] = this.settled.get(readingId) ?? [];
    const ids = { creditsEventId, readingEventId: completed?.eventId ?? completedId ?? causeEventId };
    const differs = (kind: LedgerDifference['kind'], message: string): void =>
      this.differ(fact, kind, message, ids);
    if (capturedId !== undefined)
      return differs('captured_twice', `credits were captured before, by event ${capturedId}`);
    if (!completed)
      return differs('not_completed', 'credits were captured for a reading that is not completed');
    this.open.delete(readingId);
    this.settled.set(readingId, [completed.eventId, creditsEventId]);
    const { cost } = completed;
    if (completed.eventId !== causeEventId)
      differs('fields_differ', 'the capture names another event as its cause');
    if (completed.reservationId !== fact.reservationId)
      differs('fields_differ', 'the reservations are not the same');
    if (completed.requestedBy !== fact.workspaceId)
      differs('fields_differ', 'the workspaces are not the same');
    if (cost !== null && cost !== amount)
      differs('fields_differ', `${amount} credits were captured, the reading costs ${cost}`);
  }

  private differ(
    { position, workspaceId, readingId }: Completed | Captured,
    kind: LedgerDifference['kind'],
    message: string,
    ids: Partial<Pick<LedgerDifference, 'creditsEventId' | 'readingEventId'>>,
  ): void {
    this.differences.push({
      position,
      found: differenceOf(kind, workspaceId, message, { readingId, ...ids }),
    });
  }
}
