import { Command } from '@app/platform/cqrs/message.js';
import type { RequestContext } from '@app/event-sourcing/core/request-context.js';

/** Opens a workspace. Its id is `ws_` and 22 base62 characters, not guessable. */
export class OpenWorkspace extends Command<{ workspaceId: string }> {
  constructor(
    readonly name: string,
    readonly by: RequestContext,
  ) {
    super();
  }
}

/**
 * Issues an API key; the answer is the only time it is seen. `unknown_workspace` when there is none,
 * `key_limit_reached` when as many keys of it are active as may be.
 */
export class IssueApiKey extends Command<
  | { outcome: 'issued'; keyId: string; apiKey: string }
  | { outcome: 'unknown_workspace' }
  | { outcome: 'key_limit_reached'; limit: number }
> {
  constructor(
    readonly workspaceId: string,
    readonly label: string | null,
    /** RFC 3339, or `null` for a key that does not expire. */
    readonly expiresAt: string | null,
    readonly by: RequestContext,
  ) {
    super();
  }
}

/** Revokes a key: it stops working at once on every process that reaches PostgreSQL, within seconds on any other. */
export class RevokeApiKey extends Command<{ outcome: 'revoked' | 'already_revoked' | 'unknown_key' }> {
  constructor(
    readonly keyId: string,
    readonly reason: string | null,
    readonly by: RequestContext,
    /** Whose key it is; found by the key when it is not said, which needs the key to be projected. */
    readonly workspaceId: string | null = null,
  ) {
    super();
  }
}
