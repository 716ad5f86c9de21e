import type pg from 'pg';
import type { Logger } from 'pino';
import type { Clock } from '#event-sourcing/core/clock.js';
import type { QueryBus } from '@nestjs/cqrs';
import type { AnswerVault } from '../../application/answers/answer-vault.js';
import type { HeaderVault } from '../../application/custom-headers/header-vault.js';
import type { EndpointStreams } from '../../application/endpoint-streams.js';
import type { ResolveHost } from '../../application/resolve-host.js';
import type { SecretVault } from '../../application/secrets/secret-vault.js';
import { WayOut } from '../../domain/delivery/way-out.js';
import { DeliveryAttempts } from './delivery-attempts.js';
import { Dispatcher } from './dispatcher.js';
import { OutcomeLog } from './outcome-log.js';
import { openSender } from './open-sender.js';
import { observedSender, type AttemptObserver } from './sender.js';
import { WakeSignal } from './wake-signal.js';
import type { Config } from '../../settings.js';
import { WorkspaceQueues } from './workspace-queues.js';

/** Postgres channel that is notified when deliveries are inserted. */
const DUE_CHANNEL = 'webhooks_due';

export interface DispatcherDependencies {
  readonly pool: pg.Pool;
  readonly config: Config;
  readonly clock: Clock;
  readonly resolve: ResolveHost;
  readonly vault: SecretVault;
  readonly answers: AnswerVault;
  readonly headers: HeaderVault;
  readonly streams: EndpointStreams;
  readonly queryBus: Pick<QueryBus, 'execute'>;
  readonly log: Pick<Logger, 'debug' | 'info' | 'warn' | 'error'>;
  readonly observer?: AttemptObserver;
}

/** Builds a dispatcher from the configuration. */
export const openDispatcher = ({
  pool,
  config,
  clock,
  resolve,
  vault,
  answers,
  headers,
  streams,
  queryBus,
  log,
  observer = { attempted: () => undefined },
}: DispatcherDependencies): Dispatcher => {
  const limits = {
    perEndpoint: config.WEBHOOK_ENDPOINT_CONCURRENCY,
    perWorkspace: config.WEBHOOK_WORKSPACE_CONCURRENCY,
    leaseMs: config.WEBHOOK_LEASE_MS,
  };
  const queues = new WorkspaceQueues(pool, limits.leaseMs);
  const sender = openSender({ config, resolve, clock, log });
  const outcomes = new OutcomeLog(pool);
  const observed = observedSender(sender, pool, observer);
  const attempts = new DeliveryAttempts({
    sender: observed,
    outcomes,
    queues,
    vault,
    answers,
    headers,
    streams,
    queryBus,
    clock,
    config,
    log,
  });
  const wake = new WakeSignal(config.DATABASE_URL, DUE_CHANNEL);
  return new Dispatcher({ pool, queues, limits, attempts, wayOut: new WayOut(), wake, clock, log });
};
