import { Module } from '@nestjs/common';
import { EndpointAccess } from './application/endpoint-access.js';
import { EnableWebhookEndpointHandler, EndpointCommands } from './application/endpoint-commands.js';
import { EndpointStreams } from './application/endpoint-streams.js';
import { ReplayEventsHandler, ReplayRows } from './application/replay.js';
import {
  AnswerVault,
  CountSecretsByKeyHandler,
  HeaderVault,
  RewrapSecretsHandler,
  SecretVault,
} from './application/vaults.js';
import { LookAtWebhookRetentionHandler, RunWebhookRetentionHandler } from './processes/retention.js';
import { FindVerificationHandler } from './processes/verification.js';
import {
  DeliveryRows,
  ExportDeliveriesHandler,
  FindAnsweredDeliveryHandler,
  ListDeliveriesOfReadingHandler,
} from './read-models/deliveries.js';
import { EndpointRows, QueueHealth } from './read-models/endpoints.js';
import {
  DeletedPast,
  EventFeed,
  FindToldEventHandler,
  ListNewestEventsHandler,
} from './read-models/event-feed.js';
import { GetEndpointStatsHandler } from './read-models/hourly-stats.js';

const PARTS = [
  AnswerVault,
  DeletedPast,
  DeliveryRows,
  EndpointAccess,
  EndpointCommands,
  EndpointRows,
  EndpointStreams,
  EventFeed,
  GetEndpointStatsHandler,
  HeaderVault,
  QueueHealth,
  ReplayRows,
  SecretVault,
];

/** Webhook endpoints: their commands and queries. */
@Module({
  providers: [
    ...PARTS,
    CountSecretsByKeyHandler,
    EnableWebhookEndpointHandler,
    ExportDeliveriesHandler,
    FindAnsweredDeliveryHandler,
    FindToldEventHandler,
    FindVerificationHandler,
    ListDeliveriesOfReadingHandler,
    ListNewestEventsHandler,
    LookAtWebhookRetentionHandler,
    ReplayEventsHandler,
    RewrapSecretsHandler,
    RunWebhookRetentionHandler,
  ],
  exports: PARTS,
})
export class WebhooksModule {}
