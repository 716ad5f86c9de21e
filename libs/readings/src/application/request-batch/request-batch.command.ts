import { Command } from '#platform/cqrs/message.js';
import type { RequestContext } from '#event-sourcing/core/request-context.js';
import type { BatchMode } from '../../contracts/events.js';
import type { ReadingRequest, RequestReadingResult } from '../request-reading/request-reading.command.js';

/** Why a reading of the batch was not accepted, or its id. */
export type BatchItem =
  | { readonly outcome: 'accepted'; readonly readingId: string }
  | { readonly outcome: 'invalid' }
  /** The credits were spent on those before it. */
  | { readonly outcome: 'no_credits' }
  | Extract<RequestReadingResult, { readonly outcome: 'insufficient_credits' | 'billing_misconfigured' }>;

/**
 * `replayed`: this Idempotency-Key already accepted the same batch. `batchId` is null when no reading was accepted: nothing
 * is stored then.
 */
export type RequestBatchResult =
  | {
      readonly outcome: 'accepted' | 'replayed';
      readonly batchId: string | null;
      readonly items: readonly BatchItem[];
    }
  | { readonly outcome: 'different_request' }
  | Extract<RequestReadingResult, { readonly outcome: 'insufficient_credits' | 'billing_misconfigured' }>;

/**
 * Accepts many readings with one reservation. Mode `all`: all of them, or none is stored. Mode `available`: as many as the
 * credits allow, in their order. @throws StoreUnavailable; a repeated request then continues where this one stopped
 */
export class RequestBatch extends Command<RequestBatchResult> {
  constructor(
    readonly workspaceId: string,
    readonly livemode: boolean,
    readonly mode: BatchMode,
    /** `null`: not a valid request. Only in mode `available`. */
    readonly items: readonly (ReadingRequest | null)[],
    readonly idempotencyKey: string | null,
    readonly by: RequestContext,
    /** Stops a repeated request whose caller has gone. A first one continues: it is charged when it has its answer. */
    readonly departed: AbortSignal | null = null,
  ) {
    super();
  }
}
