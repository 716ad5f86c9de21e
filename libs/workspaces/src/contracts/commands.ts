import { Command } from '#platform/cqrs/message.js';
import { MODES, type Mode } from '#event-sourcing/core/mode.js';
import type { RequestContext } from '#event-sourcing/core/request-context.js';
import type { Paper } from './events.js';

/** Opens a workspace. Its id is `ws_` and 22 base62 characters, and cannot be guessed. */
export class OpenWorkspace extends Command<{ workspaceId: string }> {
  constructor(
    readonly name: string,
    readonly by: RequestContext,
  ) {
    super();
  }
}

/** Most characters of a key's label. */
export const LONGEST_LABEL = 100;

/** What a key is for, and what limits it. */
export interface ApiKeyTerms {
  readonly label: string | null;
  readonly mode: Mode;
  readonly scopes: readonly string[];
  /** CIDR ranges that it works from, canonical; none: everywhere. */
  readonly networks: readonly string[];
  /** RFC 3339, or `null` for a key that does not expire. */
  readonly expiresAt: string | null;
}

/**
 * The terms that a caller asks for. `null` for the scopes: the ordinary ones; for networks and expiry: none. A caller
 * with a key gives its own networks and expiry instead, and only those of the ordinary scopes that it has.
 */
export interface AskedTerms extends Pick<ApiKeyTerms, 'label' | 'mode' | 'expiresAt'> {
  readonly scopes: readonly string[] | null;
  readonly networks: readonly string[] | null;
}

/** Who issues, rotates or revokes a key. */
export interface KeyManager {
  /** The key that the caller uses, or that opened its session: it gives no more than it has. `null`: there is none. */
  readonly keyId: string | null;
  /** Keys of other modes are unknown to the caller. */
  readonly sees: readonly Mode[];
  /** Of a session of the portal: it gives no others, and never `keys:write` or `portal:write`. Absent: no session. */
  readonly scopes?: readonly string[];
  /** Scopes with which a key would show the caller what it does not see itself: it gives none of them. */
  readonly hides?: readonly string[];
}

/** An operator may manage every key. */
export const OPERATOR: KeyManager = { keyId: null, sees: MODES };

/** A term that a caller may not give a key. */
export type BeyondCaller =
  /** `scope`: the first that it does not have; `never`: one that its kind of credential never gives. */
  | { readonly term: 'scopes' | 'never'; readonly scope: string }
  /** `persons`: a scope of those that the caller `hides`. */
  | { readonly term: 'mode' | 'persons' | 'networks' | 'expiresAt' };

export type KeyRefusal =
  | { readonly outcome: 'unknown_workspace' }
  /**
   * A key to rotate is not active, or of a mode that the caller does not see; or a repeated request finds its new key
   * revoked.
   */
  | { readonly outcome: 'unknown_key' }
  | { readonly outcome: 'key_limit_reached'; readonly limit: number }
  /** The caller's own key was revoked or has expired. */
  | { readonly outcome: 'own_key_ended' }
  | ({ readonly outcome: 'beyond_caller' } & BeyondCaller);

/** Only this result contains the key itself. */
export interface IssuedKey {
  readonly outcome: 'issued';
  readonly keyId: string;
  readonly apiKey: string;
  readonly terms: ApiKeyTerms;
}

/** Issues an API key. At most API_KEYS_PER_WORKSPACE keys of a workspace are active. */
export class IssueApiKey extends Command<IssuedKey | KeyRefusal> {
  constructor(
    readonly workspaceId: string,
    readonly asked: AskedTerms,
    readonly by: RequestContext,
    readonly manager: KeyManager = OPERATOR,
  ) {
    super();
  }
}

export interface RotatedKey extends Omit<IssuedKey, 'outcome'> {
  readonly outcome: 'rotated';
  /** RFC 3339: when the previous key ends. */
  readonly previousExpiresAt: string;
}

/**
 * Issues a key with the terms of another one, which ends after the overlap; without overlap, it is revoked.
 */
export class RotateApiKey extends Command<RotatedKey | KeyRefusal> {
  constructor(
    readonly keyId: string,
    readonly overlapSeconds: number,
    readonly by: RequestContext,
    /** The key's workspace. Without it, the workspace is looked up by the key, which must then be projected. */
    readonly workspaceId: string | null,
    readonly manager: KeyManager = OPERATOR,
  ) {
    super();
  }
}

/**
 * Revokes a key. It stops working at once in every process that reaches PostgreSQL, and within seconds in any other.
 */
export class RevokeApiKey extends Command<{ outcome: 'revoked' | 'already_revoked' | 'unknown_key' }> {
  constructor(
    readonly keyId: string,
    readonly reason: string | null,
    readonly by: RequestContext,
    /** The key's workspace. Without it, the workspace is looked up by the key, which must then be projected. */
    readonly workspaceId: string | null = null,
    readonly sees: readonly Mode[] = MODES,
  ) {
    super();
  }
}

/**
 * Revokes a key, and every key that was issued or rotated with it, so that nobody who had it keeps one. Whatever it
 * issues meanwhile is included. Repeating it is safe.
 */
export class RevokeApiKeyAndIssued extends Command<
  | { outcome: 'unknown_key' }
  | {
      outcome: 'revoked' | 'already_revoked';
      workspaceId: string;
      /** The ids of the keys that were issued with it, and with those; also of those that were revoked before. */
      issued: readonly string[];
    }
> {
  constructor(
    readonly keyId: string,
    readonly reason: string | null,
    readonly by: RequestContext,
    /** The key's workspace. Without it, the workspace is looked up by the key, which must then be projected. */
    readonly workspaceId: string | null = null,
  ) {
    super();
  }
}

/** What became of a choice of a workspace. */
export interface Chosen {
  readonly outcome: 'chosen' | 'unchanged' | 'unknown_workspace';
}

/** Chooses the paper of a workspace's PDFs. Publications already requested keep theirs. */
export class ChoosePaper extends Command<Chosen> {
  constructor(
    readonly workspaceId: string,
    readonly paper: Paper,
    readonly by: RequestContext,
  ) {
    super();
  }
}

/**
 * Chooses what the webhooks of a workspace tell; an omitted choice stays. `externalId`: whether bodies show the external ids
 * of readings; existing events keep theirs. `lowCreditsPercent` (0 to 90): when `credits.low` is told; 0: never.
 */
export class ChooseWebhookContent extends Command<Chosen> {
  constructor(
    readonly workspaceId: string,
    readonly content: { readonly externalId?: boolean; readonly lowCreditsPercent?: number },
    readonly by: RequestContext,
  ) {
    super();
  }
}
