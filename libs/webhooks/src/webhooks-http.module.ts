import { Module } from '@nestjs/common';
import { DeliveriesController } from './http/deliveries.controller.js';
import { EventsController } from './http/events.controller.js';
import { PageCursors } from '@app/platform/http/page-cursor.js';
import { ReplaysController } from './http/replays.controller.js';
import { WebhooksController } from './http/webhooks.controller.js';
import { WebhooksModule } from './webhooks.module.js';

export { describeWebhooks } from './http/describe-webhooks.js';

@Module({
  imports: [WebhooksModule],
  controllers: [WebhooksController, DeliveriesController, ReplaysController, EventsController],
  providers: [PageCursors],
})
export class WebhooksHttpModule {}
