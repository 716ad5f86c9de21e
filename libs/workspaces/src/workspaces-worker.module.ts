import { Module, type OnModuleInit } from '@nestjs/common';
import { projectionConsumer } from '@app/event-sourcing/projections/projection.js';
import { WorkRegistry } from '@app/platform/work/work-registry.js';
import { FindExpiringKeysHandler } from './application/find-expiring-keys/find-expiring-keys.handler.js';
import { workspacesProjections } from './projections.js';

/** Follows the log, and answers what other modules ask of keys. */
@Module({ providers: [FindExpiringKeysHandler] })
export class WorkspacesWorkerModule implements OnModuleInit {
  constructor(private readonly work: WorkRegistry) {}

  onModuleInit(): void {
    for (const one of workspacesProjections) this.work.addConsumer(projectionConsumer(one));
  }
}
