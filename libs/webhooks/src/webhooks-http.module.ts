import { Module } from '@nestjs/common';
import { PageCursors } from '#platform/http/page-cursor.js';
import {
  DeliveriesController,
  Redeliveries,
  SendTestEventController,
  Trials,
} from './application/deliveries.controller.js';
import {
  EndpointController,
  EndpointHealthController,
  EndpointsController,
} from './application/endpoints.controller.js';
import { EventsController } from './application/events.controller.js';
import { DRY_RUN_WAIT_MS, ReplayController } from './application/replay.controller.js';
import { WebhooksModule } from './webhooks.module.js';

export { describeWebhooks } from './http/event.schemas.js';

@Module({
  imports: [WebhooksModule],
  // In the order in which the OpenAPI document lists their operations.
  controllers: [
    EndpointsController,
    EndpointController,
    SendTestEventController,
    EndpointHealthController,
    DeliveriesController,
    ReplayController,
    EventsController,
  ],
  providers: [PageCursors, Redeliveries, Trials, { provide: DRY_RUN_WAIT_MS, useValue: 5_000 }],
})
export class WebhooksHttpModule {}
