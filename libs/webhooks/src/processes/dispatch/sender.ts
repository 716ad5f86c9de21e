import { SpanKind } from '@opentelemetry/api';
import type pg from 'pg';
import { LRUCache } from 'lru-cache';
import { isTracing, startSpan, withSpan } from '#event-sourcing/tracing/tracing.js';
import type { ResolveHost } from '../../application/resolve-host.js';
import { judgeStatus, type AttemptResult } from '../../domain/delivery/attempt-result.js';
import { parseRetryAfter } from '../../domain/delivery/retry-schedule.js';
import { isAddress, isReachable, unbracketed } from '../../domain/url/addresses.js';
import { checkWebhookUrl, type UrlPolicy, type UrlVerdict } from '../../domain/url/webhook-url.js';
import { AttemptFailed, Exchange, classify, type Response } from './exchange.js';
import type { PinnedConnections } from './pinned-connections.js';

export interface OutgoingRequest {
  readonly endpointId: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Uint8Array;
}

class Cancelled extends Error {
  override readonly name = 'Cancelled';
}

const CACHED_VERDICTS = 1_000;
/** Addresses of one name. Each is checked, and whoever owns the name chooses their number. */
const MOST_ADDRESSES = 64;

/** Makes one HTTP request to a receiver. Whatever the receiver or the network does becomes a result. */
export class Sender {
  private readonly pending = new Set<Exchange>();
  /** The verdict on a URL or an address never changes. The addresses of a name do: it is resolved at every attempt. */
  private readonly verdicts = new LRUCache<string, UrlVerdict>({ max: CACHED_VERDICTS });
  private readonly reachable = new LRUCache<string, boolean>({ max: CACHED_VERDICTS });

  constructor(
    private readonly connections: PinnedConnections,
    private readonly resolve: ResolveHost,
    private readonly policy: UrlPolicy,
    private readonly exchangeTimeoutMs: number,
    private readonly now: () => number,
    /** Told each time that a name leads to an address that is not open. */
    private readonly blocked: (host: string, endpointId: string) => void = () => undefined,
  ) {}

  /**
   * POSTs once, without following redirects, within the deadline for the whole exchange.
   * @returns 'cancelled' after `cancel`: the outcome is unknown
   */
  async send(request: OutgoingRequest): Promise<AttemptResult | 'cancelled'> {
    const exchange = new Exchange();
    const timer = setTimeout(() => exchange.cancel(new AttemptFailed('timeout')), this.exchangeTimeoutMs);
    this.pending.add(exchange);
    // Sent once its address is known; it can be cancelled before.
    this.dispatch(request, exchange).catch((error: unknown) => exchange.cancel(error as Error));
    try {
      return this.judge(await exchange.response);
    } catch (error) {
      if (error instanceof Cancelled) return 'cancelled';
      return { error: classify(error), statusCode: null, retryAfterMs: null, responseBody: null };
    } finally {
      clearTimeout(timer);
      this.pending.delete(exchange);
    }
  }

  /** Ends all requests under way without results. Idle connections end by themselves, and keep no process running. */
  cancel(): void {
    for (const exchange of this.pending) exchange.cancel(new Cancelled());
  }

  private async dispatch(
    { endpointId, url: text, headers, body }: OutgoingRequest,
    exchange: Exchange,
  ): Promise<void> {
    const verdict = this.verdict(text);
    if (!verdict.ok)
      throw new AttemptFailed(verdict.code === 'webhook_url_blocked' ? 'blocked_address' : 'invalid_url');
    const { url } = verdict;
    const host = unbracketed(url.hostname);
    const addresses = isAddress(host) ? [host] : await this.addressesOf(host, endpointId);
    if (exchange.isCancelled) return;
    const sent = { ...headers, 'accept-encoding': 'identity', 'content-length': String(body.length) };
    const address = this.connections.choose(addresses);
    const fields = Object.entries(sent).flat();
    exchange.begin(() => this.connections.post(endpointId, url, address, fields), body);
  }

  private verdict(text: string): UrlVerdict {
    return remembered(this.verdicts, text, () => checkWebhookUrl(text, this.policy));
  }

  /**
   * One blocked address among those of a name blocks the name. The owner is told the same as of a name without an address:
   * otherwise anyone could list the names that exist inside.
   */
  private async addressesOf(host: string, endpointId: string): Promise<readonly string[]> {
    const { allowCidrs } = this.policy;
    const isOpen = (address: string): boolean =>
      remembered(this.reachable, address, () => isReachable(address, allowCidrs));
    const addresses = await this.resolve(host).catch(() => []);
    if (addresses.length > MOST_ADDRESSES) throw new AttemptFailed('dns_failed');
    const areOpen = addresses.every(isOpen);
    if (!areOpen) this.blocked(host, endpointId);
    if (!areOpen || addresses.length === 0) throw new AttemptFailed('dns_failed');
    return addresses;
  }

  private judge({ statusCode, retryAfter, body }: Response): AttemptResult {
    const isPaused = statusCode === 429 || statusCode === 503;
    return {
      error: judgeStatus(statusCode),
      statusCode,
      retryAfterMs: parseRetryAfter(isPaused ? retryAfter : [], this.now()),
      responseBody: body,
    };
  }
}

const remembered = <V extends NonNullable<unknown>>(
  known: LRUCache<string, V>,
  key: string,
  find: () => V,
): V => {
  const value = known.get(key) ?? find();
  known.set(key, value);
  return value;
};

/** Called after each attempt with its result (`succeeded` or a class of error) and its duration. */
export interface AttemptObserver {
  attempted(result: string, seconds: number): void;
}

export type SendsRequests = Pick<Sender, 'send' | 'cancel'>;

/** A sender that counts its attempts and records a span of each in the trace of the event. */
export const observedSender = (
  sender: SendsRequests,
  pool: pg.Pool,
  observer: AttemptObserver,
): SendsRequests => ({
  cancel: () => sender.cancel(),
  async send(request) {
    const { headers, endpointId } = request;
    const span =
      isTracing() &&
      startSpan('webhook attempt', {
        kind: SpanKind.CLIENT,
        parent: await traceparentOf(pool, headers['x-service-event-id']),
        attributes: {
          'webhook.endpoint_id': endpointId,
          'webhook.delivery_id': headers['x-service-delivery-id'],
          'webhook.event_type': headers['x-service-event'] ?? headers['x-service-notice'],
          'webhook.attempt': Number(headers['x-service-attempt']),
        },
      });
    const startedAt = performance.now();
    let outcome = 'cancelled';
    try {
      const result = await withSpan(span || null, () => sender.send(request));
      if (result === 'cancelled') return result;
      outcome = result.error ?? 'succeeded';
      if (span && result.statusCode !== null)
        span.setAttribute('http.response.status_code', result.statusCode);
      return result;
    } finally {
      if (outcome !== 'cancelled') observer.attempted(outcome, (performance.now() - startedAt) / 1_000);
      if (span) span.setAttribute('webhook.result', outcome).end();
    }
  },
});

/** Read only while tracing is on. Without it the attempt starts a trace of its own. */
const traceparentOf = async (pool: pg.Pool, eventId: string | undefined): Promise<string | null> => {
  const found = await pool
    .query<{ traceparent: string | null }>(
      'select traceparent from webhooks.public_event where event_id = $1',
      [eventId],
    )
    .catch(() => null);
  return found?.rows[0]?.traceparent ?? null;
};
