import { Command } from '#platform/cqrs/message.js';
import type { RequestContext } from '#event-sourcing/core/request-context.js';
import type { PublishedDocument } from './ports.js';

/**
 * Permanently erases the personal data of a reading. An unfinished reading first fails as `input_unprocessable`, so
 * that its credits are released.
 */
export class EraseReading extends Command<{ outcome: 'erased' | 'already_erased' | 'unknown_reading' }> {
  constructor(
    readonly readingId: string,
    readonly workspaceId: string,
    readonly by: RequestContext,
  ) {
    super();
  }
}

/**
 * Fences a reservation that no reading names: no reading can use it afterwards. `claimed` when a reading already names
 * it; then nothing changes.
 * `livemode`: whether the reservation is of the live book.
 */
export class AbandonReading extends Command<{ outcome: 'abandoned' | 'claimed' }> {
  constructor(
    readonly readingId: string,
    readonly workspaceId: string,
    readonly reservationId: string,
    readonly livemode: boolean,
    readonly reason: string,
  ) {
    super();
  }
}

/** `not_ready`: a new test reading is not published yet. */
export type TrialReadingResult =
  | { readonly outcome: 'ready'; readonly readingId: string; readonly document: PublishedDocument }
  | { readonly outcome: 'not_ready' | 'billing_misconfigured' }
  | { readonly outcome: 'insufficient_credits'; readonly required: number; readonly available: number };

/**
 * Finds the newest test reading of a workspace whose result and document can be fetched. Without one, requests one about
 * an invented person, and waits some seconds until it is published. @throws StoreUnavailable
 */
export class PrepareTrialReading extends Command<TrialReadingResult> {
  constructor(
    readonly workspaceId: string,
    readonly by: RequestContext,
  ) {
    super();
  }
}
