import { Module } from '@nestjs/common';
import { PageCursors } from '#platform/http/page-cursor.js';
import {
  ChangeWebhookEndpointController,
  CreateWebhookEndpointController,
  DeleteWebhookEndpointController,
  RotateSecretController,
  ShowEndpointHealthController,
  ShowEndpointsController,
  ShowStatsController,
  ProbeEndpointController,
} from './application/endpoints.controller.js';
import { PullEventsController, ShowEventController } from './application/events.controller.js';
import {
  RedeliverController,
  SendTestEventController,
  ShowDeliveriesController,
} from './application/deliveries.controller.js';
import { ReplayController } from './application/replay.controller.js';
import { WebhooksModule } from './webhooks.module.js';

export { describeWebhooks } from './http/event.schemas.js';

@Module({
  imports: [WebhooksModule],
  // In the order in which the OpenAPI document lists their operations.
  controllers: [
    ShowEndpointsController,
    CreateWebhookEndpointController,
    ChangeWebhookEndpointController,
    DeleteWebhookEndpointController,
    RotateSecretController,
    SendTestEventController,
    ShowEndpointHealthController,
    ShowStatsController,
    ProbeEndpointController,
    ShowDeliveriesController,
    RedeliverController,
    ReplayController,
    PullEventsController,
    ShowEventController,
  ],
  providers: [PageCursors],
})
export class WebhooksHttpModule {}
