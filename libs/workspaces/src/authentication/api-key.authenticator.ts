import { Inject, Injectable } from '@nestjs/common';
import type { Clock } from '#event-sourcing/core/clock.js';
import type { Principal, RefusedKey } from '#platform/auth/authentication.js';
import { CLOCK } from '#platform/tokens.js';
import { isWithin } from '../contracts/networks.js';
import { isHashOf, parseApiKey } from '../domain/api-key.js';
import { ApiKeyQuery } from '../read-models/queries.js';

const HOUR_MS = 3_600_000;

/**
 * Verifies API keys: first shape and checksum, without a query, then the stored hash in constant time. Each request reads
 * the key's row, so that a revocation takes effect at once in every process; requests that arrive together share a statement.
 */
@Injectable()
export class ApiKeyAuthenticator {
  constructor(
    private readonly keys: ApiKeyQuery,
    @Inject(CLOCK) private readonly clock: Clock,
  ) {}

  /**
   * @param from the caller's address, canonical
   * @returns a refused key only to a caller with its secret: its state must not reveal to others that it exists
   */
  async verify(apiKey: string, from: string | null): Promise<Principal | RefusedKey | null> {
    const parsed = parseApiKey(apiKey);
    if (!parsed) return null;
    const { keyId, mode } = parsed;
    const row = await this.keys.find(keyId);
    if (!row || row.mode !== mode || !isHashOf(row.hash, parsed)) return null;
    const now = this.clock.now();
    const expired = row.expiresAt !== null && row.expiresAt.getTime() <= now;
    const identity = { workspaceId: row.workspaceId, actor: `apiKey:${keyId}` };
    if (expired || row.revokedAt !== null) return { ...identity, refusal: 'ended' };
    if (row.networks.length > 0 && !isWithin(from ?? '', row.networks))
      return { ...identity, refusal: 'network' };
    const hour = Math.floor(now / HOUR_MS) * HOUR_MS;
    // Nobody waits for it, and a failure loses nothing: the next use notes it again.
    if ((row.usedAt?.getTime() ?? 0) < hour) this.keys.noteUse(keyId, hour).catch(() => undefined);
    return { ...identity, authMode: 'apiKey', mode, sees: [mode], scopes: row.scopes };
  }
}
