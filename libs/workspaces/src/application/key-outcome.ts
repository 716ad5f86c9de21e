import { assertNever } from '#event-sourcing/core/decision.js';
import type { Outcome } from '#event-sourcing/handling/command-executor.js';
import type { ApiKeyTerms, KeyRefusal } from '../contracts/commands.js';
import type { WorkspaceEvent } from '../contracts/events.js';
import type { Workspace } from '../domain/workspace/workspace.decider.js';
import type { WorkspaceRejection } from '../domain/workspace/workspace.commands.js';

type KeyOutcome = Outcome<WorkspaceEvent, Workspace, WorkspaceRejection>;

/** The terms of a new key; `null` when an earlier attempt issued it and it was revoked since. */
export const termsOf = ({ state }: KeyOutcome, keyId: string): ApiKeyTerms | null => {
  const key = state.standing.get(keyId);
  if (!key) return null;
  const { endsAt: _, ...terms } = key;
  return terms;
};

/** What the caller learns of a refusal to issue or rotate a key. */
export const refusalOf = (rejection: WorkspaceRejection): KeyRefusal => {
  switch (rejection.code) {
    case 'WorkspaceNotOpen':
      return { outcome: 'unknown_workspace' };
    case 'UnknownKey':
      return { outcome: 'unknown_key' };
    case 'KeyLimitReached':
      return { outcome: 'key_limit_reached', ...rejection.details };
    case 'OwnKeyEnded':
      return { outcome: 'own_key_ended' };
    case 'BeyondCaller':
      return { outcome: 'beyond_caller', ...rejection.details };
    default:
      return assertNever(rejection);
  }
};
