import { COMMAND_BUS, type CommandBus, type Message, QUERY_BUS } from '@app/platform/cqrs/handler.js';
import { Providers } from './providers.js';

interface LazyModule {
  /** Whose classes tell which module handles a message. */
  readonly contracts: () => Promise<object>;
  /** @returns the module's class */
  readonly load: () => Promise<object>;
}

/** The modules that handle the operator's commands and queries. */
export const MODULES: readonly LazyModule[] = [
  {
    contracts: () => import('@app/workspaces/contracts/index.js'),
    load: async () => (await import('@app/workspaces/workspaces.module.js')).WorkspacesModule,
  },
  {
    contracts: () => import('@app/billing/contracts/index.js'),
    load: async () => (await import('@app/billing/billing.module.js')).BillingModule,
  },
  {
    contracts: () => import('@app/webhooks/contracts/index.js'),
    load: async () => (await import('@app/webhooks/webhooks.module.js')).WebhooksModule,
  },
  {
    contracts: () => import('@app/readings/contracts/index.js'),
    load: async () => (await import('@app/readings/readings.module.js')).ReadingsModule,
  },
  {
    contracts: () => import('@app/publishing/contracts/index.js'),
    load: async () => (await import('@app/publishing/publishing.module.js')).PublishingModule,
  },
  {
    contracts: () => import('@app/publishing/contracts/index.js'),
    load: async () => (await import('@app/publishing/publishing-ops.module.js')).PublishingOpsModule,
  },
];

/** Handles commands and queries, and loads the module of each when it is first sent. */
export class Modules {
  private readonly providers: Providers;

  /** @param platform what the modules take from the platform, by token */
  constructor(platform: Map<unknown, unknown>) {
    this.providers = new Providers(new Map([...platform, [COMMAND_BUS, this], [QUERY_BUS, this]]));
  }

  /** @throws Error when no module handles the message */
  readonly execute = async (message: object): Promise<unknown> => {
    const handler = await this.handlerOf(message.constructor as Message);
    return (handler as { execute: CommandBus['execute'] }).execute(message as never);
  };

  private async handlerOf(message: Message): Promise<unknown> {
    for await (const module of this.candidates(message)) {
      this.providers.add(module);
      const handler = this.providers.handlerOf(message);
      if (handler) return this.providers.get(handler);
    }
    throw new Error(`No module handles ${message.name}`);
  }

  /** The module that owns the message comes first. Another one may handle it: a contract can be a port. */
  private async *candidates(message: Message): AsyncGenerator<object> {
    const others: LazyModule[] = [];
    for (const module of MODULES) {
      if (Object.values(await module.contracts()).includes(message)) yield module.load();
      else others.push(module);
    }
    for (const module of others) yield module.load();
  }
}
