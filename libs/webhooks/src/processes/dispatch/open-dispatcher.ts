import type pg from 'pg';
import type { Logger } from 'pino';
import type { Clock } from '@app/event-sourcing/core/clock.js';
import type { Config } from '@app/platform/config/settings.js';
import type { EndpointStreams } from '../../application/endpoint-streams.js';
import type { ResolveHost } from '../../application/resolve-host.js';
import type { SecretVault } from '../../application/secrets/secret-vault.js';
import { urlPolicy } from '../../application/url-check.js';
import { DeliveryAttempts } from './delivery-attempts.js';
import { Dispatcher } from './dispatcher.js';
import { Lanes } from './workspace-queues.js';
import { OutcomeLog } from './outcome-log.js';
import { observedSender, type AttemptObserver } from './observed-sender.js';
import { PinnedConnections } from './pinned-connections.js';
import { Sender } from './sender.js';
import { egressProxy } from './tunnel.js';
import { WakeSignal } from './wake-signal.js';

/** Postgres channel on which the fan-out tells that deliveries are due. */
const DUE_CHANNEL = 'webhooks_due';

export interface DispatcherSurroundings {
  readonly pool: pg.Pool;
  readonly config: Config;
  readonly clock: Clock;
  readonly resolve: ResolveHost;
  readonly vault: SecretVault;
  readonly streams: EndpointStreams;
  readonly log: Pick<Logger, 'warn' | 'error'>;
  readonly observer?: AttemptObserver;
}

/** Puts a dispatcher together from the configuration. */
export const openDispatcher = ({
  pool,
  config,
  clock,
  resolve,
  vault,
  streams,
  log,
  observer = { attempted: () => undefined },
}: DispatcherSurroundings): Dispatcher => {
  const connections = new PinnedConnections({
    connectTimeoutMs: config.WEBHOOK_CONNECT_TIMEOUT_MS,
    exchangeTimeoutMs: config.WEBHOOK_ATTEMPT_TIMEOUT_MS,
    perReceiver: config.WEBHOOK_ENDPOINT_CONCURRENCY,
    allowCidrs: config.WEBHOOK_ALLOW_CIDRS,
    proxy: config.WEBHOOK_PROXY_URL === undefined ? null : egressProxy(config.WEBHOOK_PROXY_URL),
  });
  const limits = {
    perEndpoint: config.WEBHOOK_ENDPOINT_CONCURRENCY,
    perWorkspace: config.WEBHOOK_WORKSPACE_CONCURRENCY,
    leaseMs: config.WEBHOOK_LEASE_MS,
  };
  const lanes = new Lanes(pool, limits.leaseMs);
  const sender = new Sender(connections, resolve, urlPolicy(config), config.WEBHOOK_ATTEMPT_TIMEOUT_MS, () =>
    clock.now(),
  );
  const outcomes = new OutcomeLog(pool);
  const observed = observedSender(sender, pool, observer);
  const attempts = new DeliveryAttempts({
    sender: observed,
    outcomes,
    lanes,
    vault,
    streams,
    clock,
    config,
    log,
  });
  const wake = new WakeSignal(config.DATABASE_URL, DUE_CHANNEL);
  return new Dispatcher({ pool, lanes, limits, attempts, wake, clock, log });
};
