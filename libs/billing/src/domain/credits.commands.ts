import type { Rejection } from '#event-sourcing/core/decider.js';
import type { Effective } from '../contracts/commands.js';
import type { PackId, PlanId } from '../contracts/catalogue.js';
import type { CreditsEventOf } from '../contracts/events.js';
import type { Reversals } from './value.js';

/** Every command carries its decision time, in milliseconds. */
interface At {
  readonly now: number;
}

/** Whose entry it is: `operator:<name>`. */
interface By {
  readonly actor: string;
}

/** An entry of a correction that two operators signed. */
export interface EntryToBook {
  readonly adjustmentId: string;
  readonly amount: number;
  readonly reason: string;
  readonly reversesEventId: string | null;
  readonly reference: string;
  /** Of credits that it adds (RFC 3339); `null`: never. */
  readonly expiresAt: string | null;
  /** The grant that it takes credits from; `null`: in burn order. */
  readonly grantId: string | null;
  /** Absent in the entry of a document that failed, which no operator signs. */
  readonly signed?: NonNullable<CreditsEventOf<'CreditsAdjusted'>['data']['signed']>;
}

export type CreditsCommand = At &
  (
    | { readonly type: 'OpenBook'; readonly workspaceId: string }
    | {
        readonly type: 'ReserveCredits';
        readonly reservationId: string;
        readonly readingId: string;
        readonly amount: number;
      }
    | {
        readonly type: 'ReserveMany';
        /** In the order in which credits go to them. */
        readonly reservations: readonly { readonly reservationId: string; readonly readingId: string }[];
        readonly amount: number;
        /** All of them or none; otherwise as many as the credits allow. */
        readonly all: boolean;
      }
    | { readonly type: 'CaptureCredits'; readonly reservationId: string; readonly causeEventId: string }
    | { readonly type: 'ReleaseCredits'; readonly reservationId: string; readonly causeEventId: string }
    | (By & {
        readonly type: 'SubscribeToPlan';
        readonly plan: PlanId;
        readonly approvalRef: string | null;
        readonly when?: Effective;
        /** Refuse to start a first subscription. */
        readonly onlyChange?: boolean;
      })
    | (By & {
        readonly type: 'CancelSubscription';
        readonly when?: Effective;
        readonly reference?: string | null;
      })
    | (By & { readonly type: 'PurchasePack'; readonly pack: PackId; readonly orderRef: string })
    | (By & {
        /** Books all entries, or none of them. */
        readonly type: 'BookCorrection';
        /** Empty for the entry of a document that failed. */
        readonly correctionId: string;
        readonly approvedBy: string;
        readonly entries: readonly EntryToBook[];
        /** Of the whole book. With another number of corrections by now, it is out of date. */
        readonly known: Reversals;
      })
    /** Records as much of what is due as one append takes. */
    | { readonly type: 'RecordDue' }
  );

/** As its caller makes it. Without an actor, it is who sends it. */
export type SentCommand = CreditsCommand extends infer C
  ? C extends CreditsCommand
    ? Omit<C, 'actor'> & { readonly actor?: string }
    : never
  : never;

export type CreditsRejection =
  | Rejection<'BookNotOpen', null>
  | Rejection<'InsufficientCredits', { readonly required: number; readonly available: number }>
  | Rejection<'ReservationSettled', { readonly reservationId: string }>
  | Rejection<'ApprovalRequired', { readonly plan: PlanId }>
  | Rejection<'NotSubscribed', null>
  /** Another correction was booked since the book was read. */
  | Rejection<'BookChanged', null>
  /** Bytes: the event store does not take so many at once. */
  | Rejection<'TooLarge', { readonly size: number; readonly most: number }>
  /** What is due does not fit the same append: record it first, with as many RecordDue as it takes. */
  | Rejection<'TooMuchDue', null>
  /** The book has no such entry, or the entry moved nothing that a correction could undo. */
  | Rejection<'NothingToReverse', { readonly eventId: string }>
  /** Signed credits: what the entry allows to reverse in all, and what is reversed already. */
  | Rejection<
      'ReversalExceeded',
      { readonly eventId: string; readonly original: number; readonly reversed: number }
    >;
