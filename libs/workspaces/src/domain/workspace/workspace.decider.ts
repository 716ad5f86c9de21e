import { accept, assertNever, ignore, reject, type Decision } from '@app/event-sourcing/core/decision.js';
import type { Decider } from '@app/event-sourcing/core/decider.js';
import type { WorkspaceEvent } from '../../contracts/events.js';
import { PersistentMap } from './persistent-map.js';
import type { WorkspaceCommand, WorkspaceRejection } from './workspace.commands.js';

export interface Workspace {
  readonly open: boolean;
  /** Expiry of each key that is not revoked, by id: milliseconds since the epoch, or infinity. */
  readonly standing: PersistentMap<number>;
  /** Ids of revoked keys. */
  readonly revoked: PersistentMap<true>;
}

/** Expired keys remain until they are revoked. Only a check of the limit counts them. */
const isFull = ({ standing }: Workspace, limit: number, now: number): boolean => {
  if (standing.size < limit) return false;
  let active = 0;
  for (const expiresAt of standing.values()) if (expiresAt > now) active += 1;
  return active >= limit;
};

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
      const { keyId, hash, terms, limit, now } = command;
      if (state.standing.has(keyId) || state.revoked.has(keyId)) return ignore('AlreadyIssued');
      if (isFull(state, limit, now)) return reject('KeyLimitReached', { limit });
      const { label, expiresAt, mode, scopes, networks } = terms;
      return accept({
        type: 'ApiKeyIssued',
        data: {
          keyId,
          hash,
          label,
          expiresAt,
          mode,
          scopes: [...scopes],
          networks: [...networks],
          replaces: null,
        },
      });
    }
    case 'RevokeApiKey': {
      const { keyId, reason } = command;
      if (state.revoked.has(keyId)) return ignore('AlreadyRevoked');
      return state.standing.has(keyId)
        ? accept({ type: 'ApiKeyRevoked', data: { keyId, reason } })
        : reject('UnknownKey', { keyId });
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
      return { ...state, standing: state.standing.with(event.data.keyId, expiryOf(event.data.expiresAt)) };
    case 'ApiKeyRevoked':
      return {
        ...state,
        standing: state.standing.without(event.data.keyId),
        revoked: state.revoked.with(event.data.keyId, true),
      };
    default:
      return assertNever(event);
  }
};

const expiryOf = (expiresAt: string | null): number =>
  expiresAt === null ? Number.POSITIVE_INFINITY : Date.parse(expiresAt);

export const workspaceDecider: Decider<WorkspaceCommand, WorkspaceEvent, Workspace, WorkspaceRejection> = {
  initialState: { open: false, standing: PersistentMap.empty(), revoked: PersistentMap.empty() },
  decide,
  evolve,
};
