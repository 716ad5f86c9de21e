import type { Mode } from '#event-sourcing/core/mode.js';
import type { Rejection } from '#event-sourcing/core/decision.js';
import type { Paper } from '../../contracts/events.js';
import type { AskedTerms, BeyondCaller, KeyManager } from '../../contracts/commands.js';

/** What every new key needs. */
interface NewKey {
  readonly keyId: string;
  readonly hash: string;
  readonly manager: KeyManager;
  /** Most keys that may be active at once. Existing keys above a lowered limit stay. */
  readonly limit: number;
  /** Milliseconds since the epoch. */
  readonly now: number;
}

/** What the webhooks of a workspace tell. */
export interface WebhookContent {
  /** Whether bodies show the external ids of readings. */
  readonly externalId: boolean;
  /** `credits.low` is told below this share of the credits that were there after the last grant; 0: never. */
  readonly lowCreditsPercent: number;
}

export type WorkspaceCommand =
  | { readonly type: 'OpenWorkspace'; readonly workspaceId: string; readonly name: string }
  | (NewKey & {
      readonly type: 'IssueApiKey';
      readonly asked: AskedTerms;
      /** The scopes of a key for which none are asked. */
      readonly ordinaryScopes: readonly string[];
    })
  | (NewKey & {
      readonly type: 'RotateApiKey';
      /** The key that the new one replaces. */
      readonly previous: string;
      /** How long the previous key still works. 0 revokes it. */
      readonly overlapMs: number;
    })
  | {
      readonly type: 'RevokeApiKey';
      readonly keyId: string;
      readonly reason: string | null;
      readonly sees: readonly Mode[];
    }
  | { readonly type: 'ChoosePaper'; readonly paper: Paper }
  /** An omitted choice stays as it is. */
  | ({ readonly type: 'ChooseWebhookContent' } & Partial<WebhookContent>);

export type WorkspaceRejection =
  | Rejection<'WorkspaceNotOpen', null>
  | Rejection<'UnknownKey', { keyId: string }>
  | Rejection<'KeyLimitReached', { limit: number }>
  | Rejection<'OwnKeyEnded', { keyId: string }>
  | Rejection<'BeyondCaller', BeyondCaller>;
