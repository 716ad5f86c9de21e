import { Global, Module, type DynamicModule } from '@nestjs/common';
import type { Logger } from 'pino';
import { BillingWorkerModule } from '#billing/billing-worker.module.js';
import { PlatformModule } from '#platform/platform.module.js';
import { WorkRegistry } from '#platform/work/work-registry.js';
import { documentPublisher } from '#publishing/contracts/index.js';
import { PublishingWorkerModule } from '#publishing/publishing-worker.module.js';
import { ReadingsWorkerModule } from '#readings/readings-worker.module.js';
import { WebhooksWorkerModule } from '#webhooks/webhooks.module.js';
import { WorkspacesWorkerModule } from '#workspaces/workspaces.module.js';
import type { Config } from '../../service/src/settings.js';

@Global()
@Module({ providers: [WorkRegistry], exports: [WorkRegistry] })
class WorkModule {}

@Module({})
export class WorkerModule {
  static forProcess(config: Config, log: Logger): DynamicModule {
    return {
      module: WorkerModule,
      imports: [
        PlatformModule.forProcess(config, log),
        WorkModule,
        WorkspacesWorkerModule,
        BillingWorkerModule,
        ReadingsWorkerModule.publishedBy(documentPublisher),
        PublishingWorkerModule,
        WebhooksWorkerModule,
      ],
    };
  }
}
