import { Module, Inject, type OnModuleInit } from '@nestjs/common';
import { EnableWebhookEndpointHandler, Endpoints, EndpointStreams } from './application/endpoints.js';
import { ReplayEventsHandler, ReplayRows, replayTask, rescueReplays } from './application/replay.js';
import { AnswerVault, HeaderVault, SECRET_HANDLERS, SecretVault, VAULTS } from './application/vaults.js';
import { makePartitions, RETENTION_HANDLERS, webhookRetentions } from './processes/retention.js';
import { FindVerificationHandler, verifyEndpoints } from './processes/verification.js';
import { DELIVERY_QUERIES } from './read-models/deliveries.js';
import { QueueHealth } from './read-models/endpoints.js';
import { FEED_QUERIES } from './read-models/event-feed.js';
import { GetEndpointStatsHandler } from './read-models/hourly-stats.js';
import { PageCursors } from '#platform/http/page-cursor.js';
import { DeliveriesController, RequestedDeliveries } from './http/deliveries.js';
import { EndpointController, EndpointsController } from './http/endpoints.js';
import { EventsController } from './http/events.js';
import { DRY_RUN_WAIT_MS, ReplayController } from './http/replays.js';
import { QueryBus } from '@nestjs/cqrs';
import type pg from 'pg';
import type { Logger } from 'pino';
import type { Clock, TrustedClock } from '#event-sourcing/core/clock.js';
import { projectionConsumer } from '#event-sourcing/projections/projection.js';
import { POSTGRES } from '#platform/postgres/pool.js';
import { retentionLoop } from '#platform/retention/retention.js';
import { CLOCK, CONFIG, LOGGER, TRUSTED_CLOCK } from '#platform/tokens.js';
import { WorkRegistry } from '#platform/work/work-registry.js';
import { openSender, resolveHost } from './processes/dispatch/sender.js';
import { destroyUnusedSecrets } from './application/unused-secrets.js';
import { Dispatcher } from './processes/dispatch/dispatcher.js';
import { contentProjection } from './projections.js';
import { fanOutConsumer } from './processes/fan-out.consumer.js';
import { accountScans, endpointScans, watchNotices } from './processes/notices.js';
import { skipNoted } from './processes/skip-pending.js';
import { WebhookMetrics } from './webhook-metrics.js';
import type { Config } from './settings.js';

const PARTS = [...VAULTS, Endpoints, EndpointStreams, GetEndpointStatsHandler, QueueHealth, ReplayRows];

/** Webhook endpoints: their commands and queries. */
@Module({
  providers: [
    ...PARTS,
    ...DELIVERY_QUERIES,
    ...FEED_QUERIES,
    ...RETENTION_HANDLERS,
    ...SECRET_HANDLERS,
    EnableWebhookEndpointHandler,
    FindVerificationHandler,
    ReplayEventsHandler,
  ],
  exports: PARTS,
})
export class WebhooksModule {}

export { describeWebhooks } from './http/events.js';

@Module({
  imports: [WebhooksModule],
  // In the order in which the OpenAPI document lists their operations.
  controllers: [
    EndpointsController,
    EndpointController,
    DeliveriesController,
    ReplayController,
    EventsController,
  ],
  providers: [PageCursors, RequestedDeliveries, { provide: DRY_RUN_WAIT_MS, useValue: 5_000 }],
})
export class WebhooksHttpModule {}

/** What a worker does for webhooks: fans events out to endpoints, and sends the deliveries. */
@Module({ imports: [WebhooksModule], providers: [WebhookMetrics] })
export class WebhooksWorkerModule implements OnModuleInit {
  constructor(
    private readonly registry: WorkRegistry,
    private readonly vault: SecretVault,
    private readonly headers: HeaderVault,
    private readonly answers: AnswerVault,
    private readonly streams: EndpointStreams,
    private readonly metrics: WebhookMetrics,
    private readonly queryBus: QueryBus,
    @Inject(POSTGRES) private readonly pool: pg.Pool,
    @Inject(CONFIG) private readonly config: Config,
    @Inject(CLOCK) private readonly clock: Clock,
    @Inject(TRUSTED_CLOCK) private readonly trustedClock: TrustedClock,
    @Inject(LOGGER) private readonly log: Logger,
  ) {}

  onModuleInit(): void {
    const { pool, config, clock, trustedClock, vault, headers, answers, streams, log, queryBus } = this;
    const parts = {
      pool,
      config,
      clock,
      vault,
      answers,
      headers,
      streams,
      queryBus,
      log,
      resolve: resolveHost,
    };
    this.registry.addConsumer(fanOutConsumer(config.WEBHOOK_RETRY_SCHEDULE_MS[0] ?? 0));
    this.registry.addConsumer(projectionConsumer(contentProjection));
    this.registry.addJob(replayTask(pool, clock));
    this.registry.addLoop(rescueReplays(pool, clock, log));
    this.registry.addLoop(skipNoted(pool, log));
    const scans = [...endpointScans(pool), ...accountScans(pool, queryBus)];
    this.registry.addLoop(watchNotices({ pool, clock: trustedClock, config, scans, log }));
    this.registry.addLoop(makePartitions(pool, trustedClock, log));
    const retentions = webhookRetentions(pool, config);
    this.registry.addLoop(retentionLoop('webhooks.retention', pool, retentions, trustedClock, log));
    this.registry.addLoop(destroyUnusedSecrets({ pool, streams, clock, log }));
    this.registry.addLoop(verifyEndpoints({ ...parts, openSender: () => openSender(parts) }));
    // A dispatcher runs once; the loop may run again.
    this.registry.addLoop({
      name: 'webhooks.dispatcher',
      role: 'webhooks',
      run: (signal) => new Dispatcher({ ...parts, observer: this.metrics }).run(signal),
    });
  }
}
