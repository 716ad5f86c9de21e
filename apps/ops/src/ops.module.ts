import { Module, type DynamicModule } from '@nestjs/common';
import type { Logger } from 'pino';
import { BillingModule } from '@app/billing/billing.module.js';
import { PlatformModule } from '@app/platform/platform.module.js';
import { PublishingModule } from '@app/publishing/publishing.module.js';
import { ReadingsModule } from '@app/readings/readings.module.js';
import { WebhooksModule } from '@app/webhooks/webhooks.module.js';
import { WorkspacesModule } from '@app/workspaces/workspaces.module.js';
import type { Config } from '../../service/src/settings.js';

/** The command handlers and queries of the operator's commands; no HTTP and no background work. */
@Module({})
export class OpsModule {
  static forProcess(config: Config, log: Logger): DynamicModule {
    return {
      module: OpsModule,
      imports: [
        PlatformModule.forProcess(config, log),
        WorkspacesModule,
        BillingModule,
        ReadingsModule,
        PublishingModule,
        WebhooksModule,
      ],
    };
  }
}
