import type { Rejection } from '@app/event-sourcing/core/decision.js';

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
  | {
      readonly type: 'CaptureCredits' | 'ReleaseCredits';
      readonly reservationId: string;
      readonly causeEventId: string;
    };

export type TestBookRejection =
  | Rejection<'InsufficientCredits', { readonly required: number; readonly available: number }>
  | Rejection<'ReservationSettled', { readonly reservationId: string }>;
