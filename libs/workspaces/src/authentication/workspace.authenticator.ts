import { Injectable } from '@nestjs/common';
import type { Authenticator, Principal, RefusedKey } from '#platform/auth/authentication.js';
import { ApiKeyAuthenticator } from './api-key.authenticator.js';
import { BearerAuthenticator } from './bearer.authenticator.js';

/** Accepts both kinds of credentials of a workspace: API keys and bearer tokens. */
@Injectable()
export class WorkspaceAuthenticator implements Authenticator {
  constructor(
    private readonly apiKeys: ApiKeyAuthenticator,
    private readonly tokens: BearerAuthenticator,
  ) {}

  verifyApiKey(apiKey: string, from: string | null): Promise<Principal | RefusedKey | null> {
    return this.apiKeys.verify(apiKey, from);
  }

  verifyBearer(token: string): Promise<Principal | null> {
    return this.tokens.verify(token);
  }
}
