import type { Rejection } from '#event-sourcing/core/decision.js';
import type { CreditsCommand } from '../credits/credits.commands.js';

export type TestBookCommand =
  /** `now`: decision time in milliseconds. Opens the workspace's book with the first reservation. */
  | {
      readonly type: 'ReserveCredits';
      readonly workspaceId: string;
      readonly reservationId: string;
      readonly readingId: string;
      readonly amount: number;
      readonly now: number;
    }
  /** As in a live book: for many readings in one append. */
  | (Omit<Extract<CreditsCommand, { type: 'ReserveMany' }>, 'now'> & {
      readonly workspaceId: string;
      readonly now: number;
    })
  | {
      readonly type: 'CaptureCredits' | 'ReleaseCredits';
      readonly reservationId: string;
      readonly causeEventId: string;
    };

export type TestBookRejection =
  | Rejection<'InsufficientCredits', { readonly required: number; readonly available: number }>
  | Rejection<'ReservationSettled', { readonly reservationId: string }>;
