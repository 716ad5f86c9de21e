/** Why a webhook command is refused; each is a problem code of the HTTP interface. */
export type WebhookRefusal =
  | 'invalid_webhook_url'
  | 'webhook_url_blocked'
  | 'endpoint_limit_reached'
  | 'replay_in_progress'
  | 'rate_limited'
  | 'webhook_not_found'
  | 'wrong_workspace'
  | 'delivery_not_found'
  | 'not_found'
  | 'idempotency_key_reused'
  | 'precondition_failed';

/** A webhook command that was refused. */
export class WebhookRefused extends Error {
  override readonly name = 'WebhookRefused';

  constructor(
    readonly code: WebhookRefusal,
    /** A sentence that quotes no value. */
    readonly detail?: string,
    readonly more: {
      /** Extra members of the problem document. */
      readonly members?: Readonly<Record<string, string>>;
      readonly retryAfterSeconds?: number;
    } = {},
  ) {
    super(detail ?? code);
  }
}
