import { Command } from '@nestjs/cqrs';

/** Opens a workspace. Its id is `ws_` and 22 base62 characters, not guessable. */
export class OpenWorkspace extends Command<{ workspaceId: string }> {
  constructor(
    readonly name: string,
    readonly actor: string,
  ) {
    super();
  }
}

/** Issues an API key; the answer is the only time it is seen. `unknown_workspace` when there is none. */
export class IssueApiKey extends Command<
  { outcome: 'issued'; keyId: string; apiKey: string } | { outcome: 'unknown_workspace' }
> {
  constructor(
    readonly workspaceId: string,
    readonly label: string | null,
    /** RFC 3339, or `null` for a key that does not expire. */
    readonly expiresAt: string | null,
    readonly actor: string,
  ) {
    super();
  }
}

/** Revokes a key: it stops working within a few seconds on every process. */
export class RevokeApiKey extends Command<{ outcome: 'revoked' | 'already_revoked' | 'unknown_key' }> {
  constructor(
    readonly keyId: string,
    readonly reason: string | null,
    readonly actor: string,
  ) {
    super();
  }
}
