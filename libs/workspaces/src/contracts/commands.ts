import { Command } from '@app/platform/cqrs/message.js';
import type { Mode } from '@app/event-sourcing/core/mode.js';
import type { RequestContext } from '@app/event-sourcing/core/request-context.js';

/** Opens a workspace. Its id is `ws_` and 22 base62 characters, and cannot be guessed. */
export class OpenWorkspace extends Command<{ workspaceId: string }> {
  constructor(
    readonly name: string,
    readonly by: RequestContext,
  ) {
    super();
  }
}

/** What a key is for, and what limits it. */
export interface ApiKeyTerms {
  readonly label: string | null;
  readonly mode: Mode;
  readonly scopes: readonly string[];
  /** CIDR ranges that it works from; none: everywhere. */
  readonly networks: readonly string[];
  /** RFC 3339, or `null` for a key that does not expire. */
  readonly expiresAt: string | null;
}

/**
 * Issues an API key. Only this result contains it. `unknown_workspace` when the workspace does not exist,
 * `key_limit_reached` when it has the most active keys allowed.
 */
export class IssueApiKey extends Command<
  | { outcome: 'issued'; keyId: string; apiKey: string }
  | { outcome: 'unknown_workspace' }
  | { outcome: 'key_limit_reached'; limit: number }
> {
  constructor(
    readonly workspaceId: string,
    readonly key: ApiKeyTerms,
    readonly by: RequestContext,
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
  ) {
    super();
  }
}
