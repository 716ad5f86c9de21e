import { Module } from '@nestjs/common';
import { PageCursors } from '#platform/http/page-cursor.js';
import { ChangeWebhookEndpointController } from './application/change-webhook-endpoint/change-webhook-endpoint.controller.js';
import { CreateWebhookEndpointController } from './application/create-webhook-endpoint/create-webhook-endpoint.controller.js';
import { DeleteWebhookEndpointController } from './application/delete-webhook-endpoint/delete-webhook-endpoint.controller.js';
import { PullEventsController } from './application/pull-events/pull-events.controller.js';
import { RedeliverController } from './application/redeliver/redeliver.controller.js';
import { ReplayController } from './application/replay/replay.controller.js';
import { RotateSecretController } from './application/rotate-secret/rotate-secret.controller.js';
import { SendTestEventController } from './application/send-test-event/send-test-event.controller.js';
import { ShowDeliveriesController } from './application/show-deliveries/show-deliveries.controller.js';
import { ShowEndpointHealthController } from './application/show-endpoint-health/show-endpoint-health.controller.js';
import { ShowEndpointsController } from './application/show-endpoints/show-endpoints.controller.js';
import { ShowEventController } from './application/show-event/show-event.controller.js';
import { ShowStatsController } from './application/show-stats/show-stats.controller.js';
import { ProbeEndpointController } from './application/verification/probe-endpoint.controller.js';
import { WebhooksModule } from './webhooks.module.js';

export { describeWebhooks } from './http/describe-webhooks.js';

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
