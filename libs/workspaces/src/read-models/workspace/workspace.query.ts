import { Inject } from '@nestjs/common';
import { QueryHandler, type IQueryHandler } from '@nestjs/cqrs';
import type { Pool } from 'pg';
import { decodeOrShow, isOpaque } from '#event-sourcing/core/event-catalogue.js';
import { streamName } from '#event-sourcing/core/stream-name.js';
import { EVENT_STORE, type EventStore } from '#event-sourcing/store/event-store.js';
import { POSTGRES } from '#platform/postgres/pool.js';
import { workspaceEvents } from '../../contracts/events.js';
import {
  GetWorkspace,
  ListWorkspaces,
  WorkspaceExists,
  type WorkspaceSummary,
} from '../../contracts/queries.js';
import { WORKSPACE_EXECUTOR, type WorkspaceExecutor } from '../../workspace.executor.js';

@QueryHandler(WorkspaceExists)
export class WorkspaceExistsHandler implements IQueryHandler<WorkspaceExists> {
  constructor(@Inject(WORKSPACE_EXECUTOR) private readonly executor: WorkspaceExecutor) {}

  async execute({ workspaceId }: WorkspaceExists): Promise<boolean> {
    const { state } = await this.executor.load(workspaceId);
    return state.open;
  }
}

@QueryHandler(GetWorkspace)
export class GetWorkspaceHandler implements IQueryHandler<GetWorkspace> {
  constructor(@Inject(EVENT_STORE) private readonly store: EventStore) {}

  /** The first event has it. */
  async execute({ workspaceId }: GetWorkspace): Promise<Pick<WorkspaceSummary, 'name' | 'openedAt'> | null> {
    const stream = streamName(workspaceEvents.category, workspaceId);
    for await (const stored of this.store.read(stream, { limit: 1 })) {
      const event = decodeOrShow(workspaceEvents, stored);
      if (!isOpaque(event) && event.type === 'WorkspaceOpened')
        return { name: event.data.name, openedAt: event.metadata.occurredAt };
    }
    return null;
  }
}

@QueryHandler(ListWorkspaces)
export class ListWorkspacesHandler implements IQueryHandler<ListWorkspaces> {
  constructor(@Inject(POSTGRES) private readonly pool: Pool) {}

  async execute(): Promise<readonly WorkspaceSummary[]> {
    const { rows } = await this.pool.query<{ id: string; name: string; at: Date; keys: number }>(
      `select w.workspace_id as id, w.name, w.opened_at as at,
              count(k.key_id) filter (where k.revoked_at is null and (k.expires_at is null or k.expires_at > now()))::int as keys
       from workspaces.workspace w left join workspaces.api_key k using (workspace_id)
       group by w.workspace_id order by w.opened_at, w.workspace_id limit 1000`,
    );
    return rows.map(({ id, name, at, keys }) => ({
      workspaceId: id,
      name,
      openedAt: at.toISOString(),
      activeKeys: keys,
    }));
  }
}
