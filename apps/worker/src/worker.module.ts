import { Global, Module, type DynamicModule } from '@nestjs/common';
import type { Logger } from 'pino';
import { BillingWorkerModule } from '@app/billing/billing-worker.module.js';
import { PlatformModule } from '@app/platform/platform.module.js';
import { WorkRegistry } from '@app/platform/work/work-registry.js';
import { documentPublisher } from '@app/publishing/contracts/index.js';
import { PublishingWorkerModule } from '@app/publishing/publishing-worker.module.js';
import { ReadingsWorkerModule } from '@app/readings/readings-worker.module.js';
import { WebhooksWorkerModule } from '@app/webhooks/webhooks-worker.module.js';
import { WorkspacesWorkerModule } from '@app/workspaces/workspaces-worker.module.js';
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
