import { networkInterfaces } from 'node:os';
import type { Clock } from '@app/event-sourcing/core/clock.js';
import type { ResolveHost } from '../../application/resolve-host.js';
import { urlPolicy } from '../../application/url-check.js';
import type { Config } from '../../settings.js';
import { PinnedConnections, egressProxy } from './pinned-connections.js';
import { Sender } from './sender.js';

interface SenderParts {
  readonly config: Config;
  readonly resolve: ResolveHost;
  readonly clock: Clock;
}

/** Builds what sends requests to receivers. @throws Error for source addresses that cannot be used */
export const openSender = ({ config, resolve, clock }: SenderParts): Sender => {
  requireUsable(config);
  const connections = new PinnedConnections({
    connectTimeoutMs: config.WEBHOOK_CONNECT_TIMEOUT_MS,
    exchangeTimeoutMs: config.WEBHOOK_ATTEMPT_TIMEOUT_MS,
    perReceiver: config.WEBHOOK_ENDPOINT_CONCURRENCY,
    allowCidrs: config.WEBHOOK_ALLOW_CIDRS,
    proxy: config.WEBHOOK_PROXY_URL === undefined ? null : egressProxy(config.WEBHOOK_PROXY_URL),
    sources: config.WEBHOOK_SOURCE_ADDRESSES,
  });
  return new Sender(connections, resolve, urlPolicy(config), config.WEBHOOK_ATTEMPT_TIMEOUT_MS, () =>
    clock.now(),
  );
};

/** Otherwise every delivery would fail, and endpoints would be disabled for it. */
const requireUsable = ({
  WEBHOOK_SOURCE_ADDRESSES: addresses,
  WEBHOOK_PROXY_URL: proxy,
}: Pick<Config, 'WEBHOOK_SOURCE_ADDRESSES' | 'WEBHOOK_PROXY_URL'>): void => {
  if (addresses.length > 0 && proxy !== undefined)
    throw new Error(
      'WEBHOOK_SOURCE_ADDRESSES: through WEBHOOK_PROXY_URL, receivers see the address of the proxy',
    );
  const own = new Set(
    Object.values(networkInterfaces()).flatMap((all) => all?.map(({ address }) => address)),
  );
  const [foreign] = addresses.filter((address) => !own.has(address));
  if (foreign !== undefined)
    throw new Error(`WEBHOOK_SOURCE_ADDRESSES: this machine does not have the address ${foreign}`);
};
