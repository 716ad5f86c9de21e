import type { Dispatcher as HttpDispatcher } from 'undici';
import type { ResolveHost } from '../../application/resolve-host.js';
import { judgeStatus, type AttemptError, type AttemptResult } from '../../domain/delivery/attempt-result.js';
import { parseRetryAfter } from '../../domain/delivery/retry-schedule.js';
import { isAddress, isReachable, unbracketed } from '../../domain/url/addresses.js';
import { checkWebhookUrl, type UrlPolicy } from '../../domain/url/webhook-url.js';
import { BlockedAddress, type PinnedConnections } from './pinned-connections.js';

/** Bytes read of a receiver's answer, and kept of it. */
const READ_BYTES = 65_536;
const KEPT_BYTES = 4_096;

export interface OutgoingRequest {
  readonly endpointId: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Uint8Array;
}

class AttemptFailed extends Error {
  override readonly name = 'AttemptFailed';
  constructor(readonly reason: AttemptError) {
    super(reason);
  }
}

/** Makes one attempt at calling a receiver. Whatever the receiver or the network does becomes a result. */
export class Sender {
  constructor(
    private readonly connections: PinnedConnections,
    private readonly resolve: ResolveHost,
    private readonly policy: UrlPolicy,
    private readonly exchangeTimeoutMs: number,
    private readonly now: () => number,
  ) {}

  /**
   * POSTs once, without following redirects, within the deadline for the whole exchange.
   * @throws the signal's reason when `signal` aborts: then nothing is known of the attempt
   */
  async send(request: OutgoingRequest, signal: AbortSignal): Promise<AttemptResult> {
    const deadline = new AbortController();
    const timer = setTimeout(() => deadline.abort(new AttemptFailed('timeout')), this.exchangeTimeoutMs);
    const ended = AbortSignal.any([signal, deadline.signal]);
    try {
      return await this.exchange(request, ended);
    } catch (error) {
      if (signal.aborted) throw error;
      const reason = deadline.signal.aborted ? 'timeout' : classify(error);
      return { error: reason, statusCode: null, retryAfterMs: null, responseBody: null };
    } finally {
      clearTimeout(timer);
    }
  }

  /** Closes every connection, in use or not. */
  close(): Promise<void> {
    return this.connections.close();
  }

  private async exchange({ endpointId, url: text, headers, body }: OutgoingRequest, signal: AbortSignal) {
    const verdict = checkWebhookUrl(text, this.policy);
    if (!verdict.ok)
      throw new AttemptFailed(verdict.code === 'webhook_url_blocked' ? 'blocked_address' : 'invalid_url');
    const { url } = verdict;
    const address = await unlessAborted(this.checkedAddress(url), signal);
    const answer = await this.connections.to(endpointId, url, address).request({
      method: 'POST',
      path: `${url.pathname}${url.search}`,
      headers: { ...headers, 'accept-encoding': 'identity' },
      body,
      signal,
    });
    const responseBody = await readSome(answer.body);
    const retryAfter =
      answer.statusCode === 429 || answer.statusCode === 503 ? answer.headers['retry-after'] : undefined;
    return {
      error: judgeStatus(answer.statusCode),
      statusCode: answer.statusCode,
      retryAfterMs: parseRetryAfter(typeof retryAfter === 'string' ? retryAfter : undefined, this.now()),
      responseBody,
    };
  }

  /** Resolves once and checks every answer: one blocked address spoils the name. */
  private async checkedAddress(url: URL): Promise<string> {
    const host = unbracketed(url.hostname);
    const addresses = isAddress(host) ? [host] : await this.resolve(host).catch(() => []);
    const [first] = addresses;
    if (first === undefined) throw new AttemptFailed('dns_failed');
    if (!addresses.every((address) => isReachable(address, this.policy.allowCidrs)))
      throw new BlockedAddress('by name');
    return first;
  }
}

const unlessAborted = <T>(promise: Promise<T>, signal: AbortSignal): Promise<T> =>
  new Promise((resolve, reject) => {
    const abort = (): void => reject(signal.reason as Error);
    signal.addEventListener('abort', abort, { once: true });
    promise.then(resolve, reject).finally(() => signal.removeEventListener('abort', abort));
  });

/** Reads a bounded part of the answer; a longer one is cut off by closing its connection. */
const readSome = async (body: HttpDispatcher.ResponseData['body']): Promise<Uint8Array> => {
  const kept: Buffer[] = [];
  let keptBytes = 0;
  let readBytes = 0;
  for await (const chunk of body as AsyncIterable<Buffer>) {
    const wanted = chunk.subarray(0, Math.max(0, KEPT_BYTES - keptBytes));
    if (wanted.length > 0) kept.push(wanted);
    keptBytes += wanted.length;
    readBytes += chunk.length;
    if (readBytes >= READ_BYTES) break;
  }
  return Buffer.concat(kept);
};

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

const classify = (error: unknown): AttemptError => {
  if (error instanceof AttemptFailed) return error.reason;
  if (error instanceof BlockedAddress) return 'blocked_address';
  const { code } = error as { code?: unknown };
  if (typeof code !== 'string') return 'invalid_response';
  if (TLS_CODES.test(code)) return 'tls_error';
  if (CONNECT_CODES.has(code)) return 'connect_failed';
  if (TIMEOUT_CODES.has(code)) return 'timeout';
  if (LOST_CODES.has(code)) return 'connection_lost';
  return 'invalid_response';
};
