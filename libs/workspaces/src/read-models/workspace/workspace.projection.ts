import { assertNever } from '@app/event-sourcing/core/decision.js';
import type { Recorded } from '@app/event-sourcing/core/event.js';
import { streamId } from '@app/event-sourcing/core/stream-name.js';
import type { Projection } from '@app/event-sourcing/projections/projection.js';
import { sql, type Statement } from '@app/event-sourcing/projections/statement.js';
import { workspaceEvents, type WorkspaceEvent } from '../../contracts/events.js';

const project = (event: Recorded<WorkspaceEvent>): readonly Statement[] => {
  const workspaceId = streamId(event.stream);
  const at = event.metadata.occurredAt;
  switch (event.type) {
    case 'WorkspaceOpened':
      return [
        sql`insert into workspaces.workspace (workspace_id, name, opened_at)
            values (${workspaceId}, ${event.data.name}, ${at}) on conflict do nothing`,
      ];
    case 'ApiKeyIssued': {
      const { keyId, hash, label, expiresAt } = event.data;
      return [
        sql`insert into workspaces.api_key (key_id, workspace_id, hash, label, issued_at, expires_at)
            values (${keyId}, ${workspaceId}, ${hash}, ${label}, ${at}, ${expiresAt}) on conflict do nothing`,
      ];
    }
    case 'ApiKeyRevoked':
      return [sql`update workspaces.api_key set revoked_at = ${at} where key_id = ${event.data.keyId}`];
    default:
      return assertNever(event);
  }
};

/** Workspaces and their keys, for authentication and the operator's lists. */
export const workspaceProjection: Projection = {
  name: 'workspaces.workspace.v1',
  catalogues: [workspaceEvents],
  project: (event) => project(event as Recorded<WorkspaceEvent>),
};
