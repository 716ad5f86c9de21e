import { Module } from '@nestjs/common';
import { EVENT_STORE } from '#event-sourcing/store/event-store.js';
import {
  ChangeWebhookEndpointHandler,
  EnableWebhookEndpointHandler,
} from './application/change-webhook-endpoint.js';
import { CreateWebhookEndpointHandler } from './application/create-webhook-endpoint.js';
import {
  DeleteWebhookEndpointHandler,
  RotateSecretHandler,
  ProbeEndpointHandler,
} from './application/endpoints.controller.js';
import {
  AnswerVault,
  HeaderVault,
  CountSecretsByKeyHandler,
  RewrapSecretsHandler,
  SecretVault,
} from './application/vaults.js';
import { EndpointAccess, KnownHosts } from './application/endpoint-access.js';
import {
  EndpointStreams,
  WEBHOOK_ENDPOINT_EXECUTOR,
  createWebhookEndpointExecutor,
} from './application/endpoint-streams.js';
import { RedeliverHandler, SendTestEventHandler } from './application/deliveries.controller.js';
import {
  ReplayEventsHandler,
  StopReplayHandler,
  GetReplayHandler,
  ReplayRows,
} from './application/replay.js';
import { LookAtWebhookRetentionHandler, RunWebhookRetentionHandler } from './processes/retention.js';
import {
  FindAnsweredDeliveryHandler,
  ListDeliveriesOfReadingHandler,
  ExportDeliveriesHandler,
  DeliveryRows,
} from './read-models/deliveries.js';
import {
  DeletedPast,
  EventFeed,
  FindToldEventHandler,
  ListNewestEventsHandler,
  NoticeFeed,
} from './read-models/event-feed.js';
import {
  EndpointRows,
  FindWebhookEndpointHandler,
  GetEndpointQueueHandler,
  ListWebhookEndpointsHandler,
  QueueHealth,
} from './read-models/endpoints.js';
import { GetEndpointStatsHandler, HourlyStats } from './read-models/hourly-stats.js';
import { FindVerificationHandler } from './processes/verification.js';

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
