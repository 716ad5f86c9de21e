import type { AttemptError } from '../../domain/delivery/attempt-result.js';

/** An attempt that failed for a reason of our own finding. */
export class AttemptFailed extends Error {
  override readonly name = 'AttemptFailed';
  constructor(readonly reason: AttemptError) {
    super(reason);
  }
}

const CONNECT_CODES = new Set([
  'ECONNREFUSED',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'EADDRNOTAVAIL',
  'EACCES',
  'EPERM',
]);
const LOST_CODES = new Set([
  'ECONNRESET',
  'EPIPE',
  'ECONNABORTED',
  'UND_ERR_SOCKET',
  'UND_ERR_RES_CONTENT_LENGTH_MISMATCH',
]);
const TIMEOUT_CODES = new Set([
  'ETIMEDOUT',
  'UND_ERR_CONNECT_TIMEOUT',
  'UND_ERR_HEADERS_TIMEOUT',
  'UND_ERR_BODY_TIMEOUT',
]);
/** OpenSSL's verification errors have no common prefix. */
const TLS_CODES =
  /^(ERR_TLS|ERR_SSL|CERT_|SELF_SIGNED|DEPTH_ZERO|UNABLE_TO_(VERIFY|GET_ISSUER|DECRYPT)|HOSTNAME_MISMATCH|EPROTO$|CRL_|INVALID_(CA|PURPOSE))/;

/** The class of a failure of the network or the receiver, from its code. */
export const classify = (error: unknown): AttemptError => {
  if (error instanceof AttemptFailed) return error.reason;
  const { code } = error as { code?: unknown };
  if (typeof code !== 'string') return 'invalid_response';
  if (TLS_CODES.test(code)) return 'tls_error';
  if (CONNECT_CODES.has(code)) return 'connect_failed';
  if (TIMEOUT_CODES.has(code)) return 'timeout';
  if (LOST_CODES.has(code)) return 'connection_lost';
  return 'invalid_response';
};
