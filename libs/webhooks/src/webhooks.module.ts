import { Module } from '@nestjs/common';
import { EVENT_STORE } from '#event-sourcing/store/event-store.js';
import { ChangeWebhookEndpointHandler } from './application/change-webhook-endpoint/change-webhook-endpoint.handler.js';
import { CreateWebhookEndpointHandler } from './application/create-webhook-endpoint/create-webhook-endpoint.handler.js';
import { DeleteWebhookEndpointHandler } from './application/delete-webhook-endpoint/delete-webhook-endpoint.handler.js';
import { EnableWebhookEndpointHandler } from './application/enable-webhook-endpoint/enable-webhook-endpoint.handler.js';
import { AnswerVault } from './application/answers/answer-vault.js';
import { HeaderVault } from './application/custom-headers/header-vault.js';
import { EndpointAccess } from './application/endpoint-access.js';
import { EndpointStreams } from './application/endpoint-streams.js';
import { RedeliverHandler } from './application/redeliver/redeliver.handler.js';
import { ReplayEventsHandler } from './application/replay/replay-events.handler.js';
import { StopReplayHandler } from './application/replay/stop-replay.handler.js';
import { RotateSecretHandler } from './application/rotate-secret/rotate-secret.handler.js';
import {
  CountSecretsByKeyHandler,
  RewrapSecretsHandler,
} from './application/secrets/rewrap-secrets.handler.js';
import { SecretVault } from './application/secrets/secret-vault.js';
import { SendTestEventHandler } from './application/send-test-event/send-test-event.handler.js';
import { ProbeEndpointHandler } from './application/verification/probe-endpoint.handler.js';
import { KnownHosts } from './application/verification/known-hosts.js';
import {
  LookAtWebhookRetentionHandler,
  RunWebhookRetentionHandler,
} from './processes/retention/retention.handlers.js';
import { FindAnsweredDeliveryHandler } from './read-models/delivery/answered-delivery.handler.js';
import { ListDeliveriesOfReadingHandler } from './read-models/delivery/deliveries-of-reading.handler.js';
import { ExportDeliveriesHandler } from './read-models/delivery/export-deliveries.handler.js';
import { DeletedPast } from './read-models/deleted-past/deleted-past.js';
import { DeliveryRows } from './read-models/delivery/delivery-rows.js';
import { EndpointRows } from './read-models/endpoint/endpoint-rows.js';
import { FindWebhookEndpointHandler } from './read-models/endpoint/find-endpoint.handler.js';
import { EventFeed } from './read-models/event-feed/event-feed.js';
import { FindToldEventHandler, ListNewestEventsHandler } from './read-models/event-feed/newest-events.js';
import {
  GetEndpointQueueHandler,
  ListWebhookEndpointsHandler,
  QueueHealth,
} from './read-models/health/queue-health.js';
import { NoticeFeed } from './read-models/notice/notice-feed.js';
import { GetEndpointStatsHandler, HourlyStats } from './read-models/stats/hourly-stats.js';
import { FindVerificationHandler } from './read-models/verification/find-verification.handler.js';
import { GetReplayHandler, ReplayRows } from './read-models/replay/replay-rows.js';
import { WEBHOOK_ENDPOINT_EXECUTOR, createWebhookEndpointExecutor } from './webhook-endpoint.executor.js';

/** Webhook endpoints: their commands and queries. */
@Module({
  providers: [
    {
      provide: WEBHOOK_ENDPOINT_EXECUTOR,
      useFactory: createWebhookEndpointExecutor,
      inject: [EVENT_STORE],
    },
    EndpointStreams,
    EndpointAccess,
    EndpointRows,
    DeletedPast,
    DeliveryRows,
    EventFeed,
    QueueHealth,
    ReplayRows,
    NoticeFeed,
    HourlyStats,
    AnswerVault,
    HeaderVault,
    KnownHosts,
    SecretVault,
    ProbeEndpointHandler,
    CreateWebhookEndpointHandler,
    ChangeWebhookEndpointHandler,
    DeleteWebhookEndpointHandler,
    RotateSecretHandler,
    SendTestEventHandler,
    RedeliverHandler,
    ReplayEventsHandler,
    StopReplayHandler,
    GetReplayHandler,
    EnableWebhookEndpointHandler,
    ListWebhookEndpointsHandler,
    FindWebhookEndpointHandler,
    GetEndpointStatsHandler,
    FindVerificationHandler,
    GetEndpointQueueHandler,
    ListNewestEventsHandler,
    FindToldEventHandler,
    FindAnsweredDeliveryHandler,
    ListDeliveriesOfReadingHandler,
    LookAtWebhookRetentionHandler,
    RunWebhookRetentionHandler,
    ExportDeliveriesHandler,
    CountSecretsByKeyHandler,
    RewrapSecretsHandler,
  ],
  exports: [
    DeletedPast,
    EndpointAccess,
    EndpointStreams,
    EndpointRows,
    DeliveryRows,
    EventFeed,
    QueueHealth,
    ReplayRows,
    NoticeFeed,
    HourlyStats,
    AnswerVault,
    HeaderVault,
    SecretVault,
  ],
})
export class WebhooksModule {}
