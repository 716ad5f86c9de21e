import type { Rejection } from '@app/event-sourcing/core/decision.js';
import type { PackId, PlanId } from '../../contracts/catalogue.js';

/** Every command carries its decision time, in milliseconds. */
interface At {
  readonly now: number;
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
    | { readonly type: 'CaptureCredits'; readonly reservationId: string; readonly causeEventId: string }
    | { readonly type: 'ReleaseCredits'; readonly reservationId: string; readonly causeEventId: string }
    | { readonly type: 'SubscribeToPlan'; readonly plan: PlanId; readonly approvalRef: string | null }
    | { readonly type: 'CancelSubscription' }
    | { readonly type: 'PurchasePack'; readonly pack: PackId; readonly orderRef: string }
    | {
        readonly type: 'AdjustCredits';
        readonly adjustmentId: string;
        readonly amount: number;
        readonly reason: string;
        readonly approvedBy: string;
        readonly reversesEventId: string | null;
        readonly reference: string | null;
        /** Who books it, as in the event's metadata. */
        readonly actor: string;
        /** Of credits that it adds (RFC 3339); default: never. */
        readonly expiresAt?: string | null;
        /** The grant that it takes credits from; default: in burn order. */
        readonly grantId?: string | null;
      }
    | { readonly type: 'RecordDue' }
  );

export type CreditsRejection =
  | Rejection<'BookNotOpen', null>
  | Rejection<'InsufficientCredits', { readonly required: number; readonly available: number }>
  | Rejection<'ReservationSettled', { readonly reservationId: string }>
  | Rejection<'ApprovalRequired', { readonly plan: PlanId }>;
