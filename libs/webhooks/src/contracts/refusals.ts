/** There is no such endpoint (any more), or it belongs to another workspace. */
export type EndpointRefusal = { readonly outcome: 'webhook_not_found' | 'wrong_workspace' };

/** `detail` continues a sentence that begins with the URL, and repeats no value. */
export type UrlRefusal = {
  readonly outcome: 'invalid_webhook_url' | 'webhook_url_blocked';
  readonly detail: string;
};

/** The endpoint is not at the revision that the caller requires. */
export type EndpointChangedSince = { readonly outcome: 'endpoint_changed' };

/** The URL moves to another host, port or scheme, and not all custom headers were sent again or removed. */
export type HeadersRequired = { readonly outcome: 'headers_required' };

/** The endpoint would have more custom headers than `limit`. */
export type TooManyHeaders = { readonly outcome: 'too_many_headers'; readonly limit: number };

/** The endpoint also receives live events, and the caller sees test alone. */
export type ModeNotAllowed = { readonly outcome: 'mode_not_allowed' };

export type RefusedByEndpoint = EndpointRefusal | ModeNotAllowed | EndpointChangedSince;

export type ChangeRefusal = RefusedByEndpoint | UrlRefusal | HeadersRequired | TooManyHeaders;

/** The workspace has `limit` endpoints, as many as it may have. */
export type EndpointLimitReached = { readonly outcome: 'endpoint_limit_reached'; readonly limit: number };

/** `limit` trials are waiting for the endpoint, as many as may wait. */
export type TooManyTestEvents = { readonly outcome: 'too_many_test_events'; readonly limit: number };

/** The test reading that a trial is about cannot be had now. */
export type TrialRefusal =
  | { readonly outcome: 'not_ready' | 'billing_misconfigured' }
  | { readonly outcome: 'insufficient_credits'; readonly required: number; readonly available: number };

export type DeliveryNotFound = { readonly outcome: 'delivery_not_found' };

/** Deleted after its term, or never there. `keptSince` (RFC 3339): all since then is kept. `field`: the pointer that asks for more. */
export interface NoLongerKept {
  readonly outcome: 'no_longer_kept';
  readonly keptSince: string;
  readonly field: string | null;
}

export type ReplayNotFound = { readonly outcome: 'replay_not_found' };

/** `different_request`: another one came under the idempotency key. `replay_in_progress`: `replayId` must end first. */
export type ReplayRefusal =
  | { readonly outcome: 'endpoint_disabled' | 'different_request' }
  | { readonly outcome: 'replay_in_progress'; readonly endpointId: string; readonly replayId: string };

/** Every refusal of a webhook command: a command that is refused has changed nothing. */
export type WebhookRefusal =
  | ChangeRefusal
  | EndpointLimitReached
  | TooManyTestEvents
  | TrialRefusal
  | DeliveryNotFound
  | NoLongerKept
  | ReplayNotFound
  | ReplayRefusal;
