import { Command } from '#platform/cqrs/message.js';
import type { RequestContext } from '#event-sourcing/core/request-context.js';
import type { ReadingInput, ReadingView } from '../../domain/reading/reading-view.js';
import type { RequestedFields } from '../../domain/reading/requested-fields.js';

export interface ReadingRequest extends RequestedFields {
  readonly input: ReadingInput;
}

/** `replayed`: this Idempotency-Key already accepted the same request. */
export type RequestReadingResult =
  | { readonly outcome: 'accepted' | 'replayed'; readonly reading: ReadingView }
  | { readonly outcome: 'different_request' }
  /** The reading of this Idempotency-Key was erased. Its input can no longer be compared. */
  | { readonly outcome: 'erased' }
  | { readonly outcome: 'insufficient_credits'; readonly required: number; readonly available: number }
  /** `detail` is for the caller. */
  | { readonly outcome: 'billing_misconfigured'; readonly detail?: string };

/** Accepts a reading, live or test: seals the input, holds its credits, records the request. @throws StoreUnavailable */
export class RequestReading extends Command<RequestReadingResult> {
  constructor(
    readonly workspaceId: string,
    readonly livemode: boolean,
    readonly request: ReadingRequest,
    readonly idempotencyKey: string | null,
    readonly by: RequestContext,
  ) {
    super();
  }
}
