import type { Recorded } from '#event-sourcing/core/event.js';
import type { Mode } from '#event-sourcing/core/request-context.js';
import { streamId } from '#event-sourcing/core/stream-name.js';
import { defineProjection, type Projection } from '#event-sourcing/projections/projection.js';
import { view } from '#event-sourcing/projections/view.js';
import { type Paper, type WorkspaceEvent, workspaceEvents } from './contracts/index.js';

interface WorkspaceRow {
  readonly workspace_id: string;
  readonly name: string;
  readonly opened_at: string;
  readonly paper: Paper;
}

interface ApiKeyRow {
  readonly key_id: string;
  readonly workspace_id: string;
  readonly hash: string;
  readonly label: string | null;
  readonly issued_at: string;
  readonly expires_at: string | null;
  readonly revoked_at: string | null;
  readonly mode: Mode;
  readonly scopes: readonly string[];
  readonly networks: readonly string[];
}

type Event = Recorded<WorkspaceEvent>;

const workspaces = view<WorkspaceRow, Event>({
  table: 'workspaces.workspace',
  key: ['workspace_id'],
  keyOf: ({ type, stream }) =>
    type === 'WorkspaceOpened' || type === 'PaperChosen' ? { workspace_id: streamId(stream) } : null,
  evolve(row, event) {
    if (event.type === 'PaperChosen') return row && { ...row, paper: event.data.paper };
    if (row !== null || event.type !== 'WorkspaceOpened') return row;
    return {
      workspace_id: streamId(event.stream),
      name: event.data.name,
      opened_at: event.metadata.occurredAt,
      paper: 'by-locale',
    };
  },
});

const apiKeys = view<ApiKeyRow, Event>({
  table: 'workspaces.api_key',
  key: ['key_id'],
  keyOf: ({ data }) => ('keyId' in data ? { key_id: data.keyId } : null),
  evolve(row, event) {
    const at = event.metadata.occurredAt;
    if (event.type === 'ApiKeyIssued' && row === null) {
      const { keyId, hash, label, expiresAt, mode, scopes, networks } = event.data;
      return {
        key_id: keyId,
        workspace_id: streamId(event.stream),
        hash,
        label,
        issued_at: at,
        expires_at: expiresAt,
        revoked_at: null,
        mode,
        scopes,
        networks,
      };
    }
    if (row === null) return null;
    if (event.type === 'ApiKeyReplaced') return { ...row, expires_at: event.data.expiresAt };
    return event.type === 'ApiKeyRevoked' ? { ...row, revoked_at: at } : row;
  },
});

/** Workspaces and their keys, for authentication and the operator's lists. */
const workspaceProjection = defineProjection({
  name: 'workspaces.workspace.v1',
  catalogues: [workspaceEvents],
  views: [workspaces, apiKeys],
});

/** For the worker, which keeps them, and the operator, who may rebuild them. Loads no framework. */
export const workspacesProjections: readonly Projection[] = [workspaceProjection];
