/**
 * Why a webhook is not trusted:
 * - `missing_header`: it has neither kind of signature;
 * - `malformed_header`: a signature or timestamp header is malformed, or an id header differs from the body's `id`;
 * - `timestamp_out_of_tolerance`: the timestamp is too old or in the future: a replay, or a wrong clock;
 * - `no_matching_signature`: the body or the secret differs from what was signed;
 * - `malformed_body`: the signature is valid, but the body is not a JSON object.
 */
export type VerificationFailure =
  | 'missing_header'
  | 'malformed_header'
  | 'timestamp_out_of_tolerance'
  | 'no_matching_signature'
  | 'malformed_body';

/** An untrusted webhook: respond with 400. */
export class WebhookVerificationError extends Error {
  override readonly name = 'WebhookVerificationError';

  constructor(
    readonly code: VerificationFailure,
    message: string,
  ) {
    super(message);
  }
}
