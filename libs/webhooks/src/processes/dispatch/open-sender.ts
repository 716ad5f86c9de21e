import { readFileSync } from 'node:fs';
import { networkInterfaces } from 'node:os';
import type { Logger } from 'pino';
import type { Clock } from '#event-sourcing/core/clock.js';
import { Recurring } from '#event-sourcing/timing/recurring.js';
import type { ResolveHost } from '../../application/resolve-host.js';
import { urlPolicy } from '../../application/url-check.js';
import type { Config } from '../../settings.js';
import { PinnedConnections, egressProxy, type EgressProxy } from './pinned-connections.js';
import { Sender } from './sender.js';

/** Longest wait (ms) for a connection to a receiver, and for its TLS. */
const CONNECT_TIMEOUT_MS = 5_000;

interface SenderParts {
  readonly config: Config;
  readonly resolve: ResolveHost;
  readonly clock: Clock;
  readonly log: Pick<Logger, 'warn'>;
  readonly connectTimeoutMs?: number | undefined;
}

/** Builds what sends requests to receivers. @throws Error for a proxy or source addresses that cannot be used */
export const openSender = ({
  config,
  resolve,
  clock,
  log,
  connectTimeoutMs = CONNECT_TIMEOUT_MS,
}: SenderParts): Sender => {
  requireLogin(config);
  requireUsable(config);
  const connections = new PinnedConnections({
    connectTimeoutMs,
    allowCidrs: config.WEBHOOK_ALLOW_CIDRS,
    proxy:
      config.WEBHOOK_PROXY_URL === undefined
        ? null
        : egressProxy(config.WEBHOOK_PROXY_URL, config.WEBHOOK_PROXY_LOGIN_FILE, proxyReport(log)),
    sources: config.WEBHOOK_SOURCE_ADDRESSES,
  });
  return new Sender(
    connections,
    resolve,
    urlPolicy(config),
    config.WEBHOOK_ATTEMPT_TIMEOUT_MS,
    () => clock.now(),
    blockedReport(log),
  );
};

/** Their owners learn only that the name cannot be used. */
const blockedReport = (log: Pick<Logger, 'warn'>) => {
  const recurring = new Recurring();
  return (host: string, endpointId: string): void => {
    const times = recurring.happened(`${endpointId} ${host}`);
    if (times > 0)
      log.warn({ host, endpointId, times }, 'the host of a webhook leads to an address that is not public');
  };
};

/** Once as it is, then at growing intervals: without its proxy, every delivery fails. */
const proxyReport = (log: Pick<Logger, 'warn'>): EgressProxy['report'] => {
  const recurring = new Recurring();
  return (reason) => {
    const times = recurring.happened(reason);
    if (times > 0) log.warn({ reason, times }, 'the proxy of webhooks cannot be used');
  };
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

/** Its errors name the setting, and never show the login. */
const requireLogin = ({
  WEBHOOK_PROXY_URL: proxy,
  WEBHOOK_PROXY_LOGIN_FILE: file,
}: Pick<Config, 'WEBHOOK_PROXY_URL' | 'WEBHOOK_PROXY_LOGIN_FILE'>): void => {
  if (file === undefined) return;
  const refuse = (reason: string): never => {
    throw new Error(`WEBHOOK_PROXY_LOGIN_FILE: ${reason}`);
  };
  if (proxy === undefined) return refuse('is for WEBHOOK_PROXY_URL, which is not set');
  if (new URL(proxy).username !== '') return refuse('WEBHOOK_PROXY_URL has a login, too; set one of the two');
  const login = contentsOf(file) ?? refuse('the file cannot be read');
  if (!/^[^:\s]+:.+$/.test(login.trim())) return refuse('the file must hold user:password');
};

const contentsOf = (file: string): string | null => {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return null;
  }
};
