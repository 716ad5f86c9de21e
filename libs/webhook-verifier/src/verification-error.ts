/**
 * Why a webhook is not trusted:
 * - `missing_header`: it carries neither style of signature;
 * - `malformed_header`: a signature or timestamp header cannot be read;
 * - `timestamp_out_of_tolerance`: it was signed too long ago, or in the future: a repetition, or a clock is wrong;
 * - `no_matching_signature`: other bytes were signed, or with another secret;
 * - `malformed_body`: the signature is right and the body is no JSON object.
 */
export type VerificationFailure =
  | 'missing_header'
  | 'malformed_header'
  | 'timestamp_out_of_tolerance'
  | 'no_matching_signature'
  | 'malformed_body';

/** A webhook that must not be trusted: answer it with 400. */
export class WebhookVerificationError extends Error {
  override readonly name = 'WebhookVerificationError';

  constructor(
    readonly code: VerificationFailure,
    message: string,
  ) {
    super(message);
  }
}
