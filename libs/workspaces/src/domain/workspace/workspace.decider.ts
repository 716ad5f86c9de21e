import {
  accept,
  assertNever,
  ignore,
  reject,
  type Decision,
  type Rejection,
} from '@app/event-sourcing/core/decision.js';
import type { Decider } from '@app/event-sourcing/core/decider.js';
import type { WorkspaceEvent } from '../../contracts/events.js';

export type WorkspaceCommand =
  | { readonly type: 'OpenWorkspace'; readonly workspaceId: string; readonly name: string }
  | {
      readonly type: 'IssueApiKey';
      readonly keyId: string;
      readonly hash: string;
      readonly label: string | null;
      readonly expiresAt: string | null;
    }
  | { readonly type: 'RevokeApiKey'; readonly keyId: string; readonly reason: string | null };

export type WorkspaceRejection =
  Rejection<'WorkspaceNotOpen', null> | Rejection<'UnknownKey', { keyId: string }>;

export interface Workspace {
  readonly open: boolean;
  /** Key ids to whether they still hold. */
  readonly keys: ReadonlyMap<string, 'active' | 'revoked'>;
}

const decide = (
  command: WorkspaceCommand,
  state: Workspace,
): Decision<WorkspaceEvent, WorkspaceRejection> => {
  if (command.type === 'OpenWorkspace') {
    const { workspaceId, name } = command;
    return state.open
      ? ignore('AlreadyOpen')
      : accept({ type: 'WorkspaceOpened', data: { workspaceId, name } });
  }
  if (!state.open) return reject('WorkspaceNotOpen', null);
  switch (command.type) {
    case 'IssueApiKey': {
      const { keyId, hash, label, expiresAt } = command;
      return state.keys.has(keyId)
        ? ignore('AlreadyIssued')
        : accept({ type: 'ApiKeyIssued', data: { keyId, hash, label, expiresAt } });
    }
    case 'RevokeApiKey': {
      const { keyId, reason } = command;
      const status = state.keys.get(keyId);
      if (status === undefined) return reject('UnknownKey', { keyId });
      return status === 'revoked'
        ? ignore('AlreadyRevoked')
        : accept({ type: 'ApiKeyRevoked', data: { keyId, reason } });
    }
    default:
      return assertNever(command);
  }
};

const evolve = (state: Workspace, event: WorkspaceEvent): Workspace => {
  switch (event.type) {
    case 'WorkspaceOpened':
      return { ...state, open: true };
    case 'ApiKeyIssued':
      return { ...state, keys: new Map(state.keys).set(event.data.keyId, 'active') };
    case 'ApiKeyRevoked':
      return { ...state, keys: new Map(state.keys).set(event.data.keyId, 'revoked') };
    default:
      return assertNever(event);
  }
};

export const workspaceDecider: Decider<WorkspaceCommand, WorkspaceEvent, Workspace, WorkspaceRejection> = {
  initialState: { open: false, keys: new Map() },
  decide,
  evolve,
};
