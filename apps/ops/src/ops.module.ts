import { Module, type DynamicModule, type Provider } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { CommandBus, CqrsModule, QueryBus } from '@nestjs/cqrs';
import { BillingModule } from '#billing/billing.module.js';
import { PublishingOpsModule } from '#publishing/publishing.module.js';
import { ReadingsModule } from '#readings/readings.module.js';
import { WebhooksModule } from '#webhooks/webhooks.module.js';
import { WorkspacesModule } from '#workspaces/workspaces.module.js';

/** The modules that handle the operator's commands and queries, on the connections of one command. */
@Module({
  imports: [
    CqrsModule.forRoot(),
    WorkspacesModule,
    BillingModule,
    WebhooksModule,
    ReadingsModule,
    PublishingOpsModule,
  ],
})
export class OpsModule {
  /** @param platform what the modules take from the platform */
  static on(platform: Provider[]): DynamicModule {
    return {
      module: OpsModule,
      global: true,
      providers: platform,
      exports: platform.map((provider) => ('provide' in provider ? provider.provide : provider)),
    };
  }
}

/** The buses on which the modules handle their messages. `close` ends what the modules have started. */
export const openContext = async (platform: Provider[]) => {
  const app = await NestFactory.createApplicationContext(OpsModule.on(platform), {
    logger: false,
    abortOnError: false,
  });
  return { commands: app.get(CommandBus), queries: app.get(QueryBus), close: () => app.close() };
};
