import { Resolver } from 'node:dns/promises';
import { networkInterfaces } from 'node:os';
import { SpanKind } from '@opentelemetry/api';
import type pg from 'pg';
import type { Logger } from 'pino';
import { isTracing, startSpan, withSpan } from '#event-sourcing/tracing/tracing.js';
import type { Clock } from '#event-sourcing/core/clock.js';
import { Recurring } from '#event-sourcing/timing/recurring.js';
import { judgeStatus, type AttemptResult, parseRetryAfter } from '../../domain/attempt.js';
import {
  isAddress,
  isReachable,
  unbracketed,
  checkWebhookUrl,
  type UrlPolicy,
} from '../../domain/webhook-url.js';
import {
  AttemptFailed,
  Exchange,
  classify,
  type ReceiverOwner,
  type Response,
  PinnedConnections,
  egressProxy,
} from './connections.js';
import { urlPolicy } from '../../application/endpoints.js';
import type { Config } from '../../settings.js';

/** Every address of a host name; rejects when there is none. */
export type ResolveHost = (hostname: string) => Promise<readonly string[]>;

/** Longest whole look-up of a name. Answers received by then are used. */
const LOOK_UP_MS = 5_000;
/** Time after which a query is repeated: the first may have been lost. */
const TRY_MS = 2_000;
const TRIES = 2;
/** How long the addresses that would be dialled wait for the others: some name servers never answer for one family. */
const OTHER_FAMILY_MS = 500;

/**
 * Resolves names without the threads of the process. The system resolver occupies one of four threads for as long as a
 * customer's name server takes. That would delay all other look-ups and the file access of this process. Names must
 * therefore be complete and known to DNS: the hosts file and search domains do not apply.
 *
 * Each look-up has its own resolver. It can be cancelled alone, uses the current name servers, and is not slowed down
 * by servers that failed for others. Nothing is cached.
 */
export const resolveHost: ResolveHost = async (hostname) => {
  const resolver = new Resolver({ timeout: TRY_MS, tries: TRIES });
  const cancelAfter = (milliseconds: number) => setTimeout(() => resolver.cancel(), milliseconds);
  const timers = [cancelAfter(LOOK_UP_MS)];
  const queries = [resolver.resolve4(hostname), resolver.resolve6(hostname)] as const;
  const [ipv4, ipv6] = queries;
  (isOnlyIpv6() ? ipv6 : ipv4).then(
    () => timers.push(cancelAfter(OTHER_FAMILY_MS)),
    () => undefined,
  );
  try {
    return addressesIn(await Promise.allSettled(queries));
  } finally {
    for (const timer of timers) clearTimeout(timer);
  }
};

/** Addresses that this machine can reach come first: the first one is dialled. */
const addressesIn = ([ipv4, ipv6]: readonly [
  PromiseSettledResult<string[]>,
  PromiseSettledResult<string[]>,
]): readonly string[] => {
  if (ipv4.status === 'rejected' && ipv6.status === 'rejected') throw ipv4.reason;
  const [four, six] = [ipv4, ipv6].map((found) => (found.status === 'fulfilled' ? found.value : []));
  return isOnlyIpv6() ? [...six!, ...four!] : [...four!, ...six!];
};

const isOnlyIpv6 = (): boolean => {
  const outward = Object.values(networkInterfaces()).flatMap((addresses = []) =>
    addresses.filter(({ internal, address }) => !internal && !address.startsWith('fe80:')),
  );
  return outward.length > 0 && outward.every(({ family }) => family === 'IPv6');
};

interface OutgoingRequest extends ReceiverOwner {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Uint8Array;
}

class Cancelled extends Error {
  override readonly name = 'Cancelled';
}

/** Addresses of one name. Each is checked, and whoever owns the name chooses their number. */
const MAX_ADDRESSES = 64;

/** Makes one HTTP request to a receiver. Whatever the receiver or the network does becomes a result. */
export class Sender {
  private readonly pending = new Set<Exchange>();

  constructor(
    private readonly connections: PinnedConnections,
    private readonly resolve: ResolveHost,
    private readonly policy: UrlPolicy,
    private readonly exchangeTimeoutMs: number,
    private readonly now: () => number,
    /** Told each time that a name leads to an address that is not open. */
    private readonly blocked: (host: string, endpointId: string) => void = () => undefined,
  ) {}

  /** POSTs once, without redirects, within the deadline of the whole exchange. @returns 'cancelled': the outcome is unknown */
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
    { workspaceId, endpointId, url: text, headers, body }: OutgoingRequest,
    exchange: Exchange,
  ): Promise<void> {
    const owner = { workspaceId, endpointId };
    const verdict = checkWebhookUrl(text, this.policy);
    if (!verdict.ok)
      throw new AttemptFailed(verdict.code === 'webhook_url_blocked' ? 'blocked_address' : 'invalid_url');
    const { url } = verdict;
    const host = unbracketed(url.hostname);
    const addresses = isAddress(host) ? [host] : await this.addressesOf(host, endpointId);
    if (exchange.isCancelled) return;
    const sent = { ...headers, 'accept-encoding': 'identity', 'content-length': String(body.length) };
    const fields = Object.entries(sent).flat();
    exchange.begin(() => this.connections.post(owner, url, addresses[0]!, fields), body);
  }

  /** One blocked address blocks the name. Its owner is told the same as of no address: nobody can list the names of the inside. */
  private async addressesOf(host: string, endpointId: string): Promise<readonly string[]> {
    const addresses = await this.resolve(host).catch(() => []);
    if (addresses.length > MAX_ADDRESSES) throw new AttemptFailed('dns_failed');
    const areOpen = addresses.every((address) => isReachable(address, this.policy.allowCidrs));
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
  const text = 'select traceparent from webhooks.public_event where event_id = $1';
  const found = await pool.query<{ traceparent: string | null }>(text, [eventId]).catch(() => null);
  return found?.rows[0]?.traceparent ?? null;
};

/** Longest wait (ms) for a connection to a receiver, and for its TLS. */
const CONNECT_TIMEOUT_MS = 5_000;

interface SenderParts {
  readonly config: Config;
  readonly resolve: ResolveHost;
  readonly clock: Clock;
  readonly log: Pick<Logger, 'warn'>;
  readonly connectTimeoutMs?: number | undefined;
}

/** Builds what sends requests to receivers. */
export const openSender = (parts: SenderParts): Sender => {
  const { config, resolve, clock, log, connectTimeoutMs = CONNECT_TIMEOUT_MS } = parts;
  const { WEBHOOK_PROXY_URL: proxy } = config;
  // Once as it is, then at growing intervals: without its proxy, every delivery fails.
  const recurring = new Recurring();
  const proxyFailed = (reason: string): void => {
    const times = recurring.happened(reason);
    if (times > 0) log.warn({ reason, times }, 'the proxy of webhooks cannot be used');
  };
  // Their owners learn only that the name cannot be used.
  const blocked = (host: string, endpointId: string): void => {
    const times = recurring.happened(`${endpointId} ${host}`);
    if (times > 0)
      log.warn({ host, endpointId, times }, 'the host of a webhook leads to an address that is not public');
  };
  const policy = urlPolicy(config);
  const connections = new PinnedConnections({
    connectTimeoutMs,
    allowCidrs: policy.allowCidrs,
    proxy: proxy === undefined ? null : egressProxy(proxy, proxyFailed),
  });
  const timeoutMs = config.WEBHOOK_ATTEMPT_TIMEOUT_MS;
  return new Sender(connections, resolve, policy, timeoutMs, () => clock.now(), blocked);
};
