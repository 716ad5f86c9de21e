import { Command } from '@app/platform/cqrs/message.js';
import type { RequestContext } from '@app/event-sourcing/core/request-context.js';
import type { ReadingInput, ReadingView } from '../../domain/reading/reading-view.js';
import type { RequestedFields } from '../../domain/reading/requested-fields.js';

export interface ReadingRequest extends RequestedFields {
  readonly input: ReadingInput;
}

/** `replayed`: the same request was accepted before under this Idempotency-Key. */
export type RequestReadingResult =
  | { readonly outcome: 'accepted' | 'replayed'; readonly reading: ReadingView }
  | { readonly outcome: 'different_request' }
  /** The reading of this Idempotency-Key was erased: what it was asked with nobody can tell any more. */
  | { readonly outcome: 'erased' }
  | { readonly outcome: 'insufficient_credits'; readonly required: number; readonly available: number }
  | { readonly outcome: 'billing_misconfigured' };

/** Accepts a reading: seals the input, holds its credits, records the request. Throws StoreUnavailable. */
export class RequestReading extends Command<RequestReadingResult> {
  constructor(
    readonly workspaceId: string,
    readonly request: ReadingRequest,
    readonly idempotencyKey: string | null,
    readonly by: RequestContext,
  ) {
    super();
  }
}
