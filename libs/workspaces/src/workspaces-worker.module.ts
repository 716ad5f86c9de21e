import { Module, type OnModuleInit } from '@nestjs/common';
import { projectionConsumer } from '@app/event-sourcing/projections/projection.js';
import { WorkRegistry } from '@app/platform/work/work-registry.js';
import { workspaceProjection } from './read-models/workspace/workspace.projection.js';

@Module({})
export class WorkspacesWorkerModule implements OnModuleInit {
  constructor(private readonly work: WorkRegistry) {}

  onModuleInit(): void {
    this.work.addConsumer(projectionConsumer(workspaceProjection));
  }
}
