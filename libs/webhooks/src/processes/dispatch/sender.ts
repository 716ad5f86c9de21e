import { RecentlyUsed } from '@app/event-sourcing/handling/recently-used.js';
import type { ResolveHost } from '../../application/resolve-host.js';
import { judgeStatus, type AttemptResult } from '../../domain/delivery/attempt-result.js';
import { parseRetryAfter } from '../../domain/delivery/retry-schedule.js';
import { isAddress, isReachable, unbracketed } from '../../domain/url/addresses.js';
import { checkWebhookUrl, type UrlPolicy, type UrlVerdict } from '../../domain/url/webhook-url.js';
import { AttemptFailed, classify } from './attempt-errors.js';
import { Exchange, type Answer } from './exchange.js';
import type { PinnedConnections } from './pinned-connections.js';

export interface OutgoingRequest {
  readonly endpointId: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Uint8Array;
}

class CutOff extends Error {
  override readonly name = 'CutOff';
}

const KEPT_VERDICTS = 1_000;

/** Makes one attempt at calling a receiver. Whatever the receiver or the network does becomes a result. */
export class Sender {
  private readonly underWay = new Set<Exchange>();
  /** What a URL's text and an address amount to never changes; where a name leads does, and is asked at every attempt. */
  private readonly verdicts = new RecentlyUsed<string, UrlVerdict>(KEPT_VERDICTS);
  private readonly reachable = new RecentlyUsed<string, boolean>(KEPT_VERDICTS);

  constructor(
    private readonly connections: PinnedConnections,
    private readonly resolve: ResolveHost,
    private readonly policy: UrlPolicy,
    private readonly exchangeTimeoutMs: number,
    private readonly now: () => number,
  ) {}

  /**
   * POSTs once, without following redirects, within the deadline for the whole exchange.
   * @returns 'cut off' after `cutOff`: then nothing is known of the attempt
   */
  async send(request: OutgoingRequest): Promise<AttemptResult | 'cut off'> {
    const exchange = new Exchange();
    const timer = setTimeout(() => exchange.cutOff(new AttemptFailed('timeout')), this.exchangeTimeoutMs);
    this.underWay.add(exchange);
    // Dispatched when its address is known; until then it can be cut off all the same.
    this.dispatch(request, exchange).catch((error: unknown) => exchange.cutOff(error as Error));
    try {
      return this.judge(await exchange.answer);
    } catch (error) {
      if (error instanceof CutOff) return 'cut off';
      return { error: classify(error), statusCode: null, retryAfterMs: null, responseBody: null };
    } finally {
      clearTimeout(timer);
      this.underWay.delete(exchange);
    }
  }

  /** Ends what is under way without results. */
  cutOff(): void {
    for (const exchange of this.underWay) exchange.cutOff(new CutOff());
  }

  /** Closes every connection, in use or not. */
  close(): Promise<void> {
    return this.connections.close();
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
    const address = isAddress(host) ? this.checked([host]) : this.checked(await this.addressesOf(host));
    if (exchange.isCutOff) return;
    this.connections.to(endpointId, url, address).dispatch(
      {
        method: 'POST',
        path: `${url.pathname}${url.search}`,
        headers: { ...headers, 'accept-encoding': 'identity' },
        body,
      },
      exchange,
    );
  }

  private verdict(text: string): UrlVerdict {
    return remembered(this.verdicts, text, () => checkWebhookUrl(text, this.policy));
  }

  private async addressesOf(host: string): Promise<readonly string[]> {
    const addresses = await this.resolve(host).catch(() => []);
    if (addresses.length === 0) throw new AttemptFailed('dns_failed');
    return addresses;
  }

  /** One blocked address spoils the name. */
  private checked(addresses: readonly string[]): string {
    const { allowCidrs } = this.policy;
    const isOpen = (address: string): boolean =>
      remembered(this.reachable, address, () => isReachable(address, allowCidrs));
    if (!addresses.every(isOpen)) throw new AttemptFailed('blocked_address');
    return addresses[0]!;
  }

  private judge({ statusCode, retryAfter, body }: Answer): AttemptResult {
    const isPaused = statusCode === 429 || statusCode === 503;
    return {
      error: judgeStatus(statusCode),
      statusCode,
      retryAfterMs: parseRetryAfter(isPaused ? retryAfter : undefined, this.now()),
      responseBody: body,
    };
  }
}

const remembered = <V>(known: RecentlyUsed<string, V>, key: string, find: () => V): V => {
  const value = known.get(key) ?? find();
  known.set(key, value);
  return value;
};
