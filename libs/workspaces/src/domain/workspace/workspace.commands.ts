import type { Rejection } from '@app/event-sourcing/core/decision.js';
import type { ApiKeyTerms } from '../../contracts/commands.js';

export type WorkspaceCommand =
  | { readonly type: 'OpenWorkspace'; readonly workspaceId: string; readonly name: string }
  | {
      readonly type: 'IssueApiKey';
      readonly keyId: string;
      readonly hash: string;
      readonly terms: ApiKeyTerms;
      /** Most keys that may be active at once. Existing keys above a lowered limit stay. */
      readonly limit: number;
      /** Milliseconds since the epoch. */
      readonly now: number;
    }
  | { readonly type: 'RevokeApiKey'; readonly keyId: string; readonly reason: string | null };

export type WorkspaceRejection =
  | Rejection<'WorkspaceNotOpen', null>
  | Rejection<'UnknownKey', { keyId: string }>
  | Rejection<'KeyLimitReached', { limit: number }>;
