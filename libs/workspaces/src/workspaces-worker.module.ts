import { Module, type OnModuleInit } from '@nestjs/common';
import { EVENT_STORE } from '#event-sourcing/store/event-store.js';
import { projectionConsumer } from '#event-sourcing/projections/projection.js';
import { WorkRegistry } from '#platform/work/work-registry.js';
import { GetPaperHandler } from './application/choose/choose.handlers.js';
import { FindExpiringKeysHandler } from './application/find-expiring-keys/find-expiring-keys.handler.js';
import { workspacesProjections } from './projections.js';
import { WORKSPACE_EXECUTOR, createWorkspaceExecutor } from './workspace.executor.js';

/** Follows the log, and answers what other modules ask of workspaces. */
@Module({
  providers: [
    { provide: WORKSPACE_EXECUTOR, useFactory: createWorkspaceExecutor, inject: [EVENT_STORE] },
    FindExpiringKeysHandler,
    GetPaperHandler,
  ],
})
export class WorkspacesWorkerModule implements OnModuleInit {
  constructor(private readonly work: WorkRegistry) {}

  onModuleInit(): void {
    for (const one of workspacesProjections) this.work.addConsumer(projectionConsumer(one));
  }
}
