import type pg from 'pg';
import type { Logger } from 'pino';
import type { Clock } from '@app/event-sourcing/core/clock.js';
import type { Config } from '@app/platform/config/settings.js';
import type { EndpointStreams } from '../../application/endpoint-streams.js';
import type { ResolveHost } from '../../application/resolve-host.js';
import type { SecretVault } from '../../application/secrets/secret-vault.js';
import { urlPolicy } from '../../application/url-check.js';
import { DeliveryQueue } from './delivery-queue.js';
import { Dispatcher } from './dispatcher.js';
import { observedSender, type AttemptObserver } from './observed-sender.js';
import { PinnedConnections } from './pinned-connections.js';
import { Sender } from './sender.js';
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
  observer = { attempted: () => undefined },
  ...parts
}: DispatcherSurroundings): Dispatcher => {
  const connections = new PinnedConnections({
    connectTimeoutMs: config.WEBHOOK_CONNECT_TIMEOUT_MS,
    exchangeTimeoutMs: config.WEBHOOK_ATTEMPT_TIMEOUT_MS,
    perReceiver: config.WEBHOOK_ENDPOINT_CONCURRENCY,
    allowCidrs: config.WEBHOOK_ALLOW_CIDRS,
  });
  const sender = new Sender(connections, resolve, urlPolicy(config), config.WEBHOOK_ATTEMPT_TIMEOUT_MS, () =>
    clock.now(),
  );
  return new Dispatcher({
    ...parts,
    clock,
    config,
    queue: new DeliveryQueue(pool, {
      perEndpoint: config.WEBHOOK_ENDPOINT_CONCURRENCY,
      perWorkspace: config.WEBHOOK_WORKSPACE_CONCURRENCY,
      leaseMs: config.WEBHOOK_LEASE_MS,
    }),
    sender: observedSender(sender, pool, observer),
    wake: new WakeSignal(config.DATABASE_URL, DUE_CHANNEL),
  });
};
