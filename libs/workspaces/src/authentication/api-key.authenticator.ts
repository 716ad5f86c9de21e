import { Inject, Injectable } from '@nestjs/common';
import { LRUCache } from 'lru-cache';
import type { Clock } from '#event-sourcing/core/clock.js';
import type { Principal, RefusedKey } from '#platform/auth/authentication.js';
import { Problem } from '#platform/http/problem.js';
import { CLOCK } from '#platform/tokens.js';
import { addressKey } from '#platform/rate-limit/address.js';
import { Lanes, LanesFull } from '#platform/work/lanes.js';
import { isWithin } from '../contracts/networks.js';
import { isHashOf, parseApiKey } from '../domain/api-key.js';
import { ApiKeyQuery, type ApiKeyRow } from '../read-models/queries.js';

const HOUR_MS = 3_600_000;
/** Most keys that a process remembers as real. A forgotten one shares the look-ups of unknown ids once. */
const KNOWN_KEYS = 10_000;
/** Look-ups of ids unknown to this process: how many run at a time, and how many more wait. */
const LOOKED_UP_AT_ONCE = 4;
const MAY_WAIT = 100;

/**
 * Verifies API keys: first shape and checksum, without a query, then the stored hash in constant time. Each request reads
 * the key's row, so that a revocation takes effect at once in every process.
 *
 * A checksum can be made up. Ids unknown to this process share a few look-ups, so they cannot delay known ones.
 */
@Injectable()
export class ApiKeyAuthenticator {
  private readonly known = new LRUCache<string, true>({ max: KNOWN_KEYS });
  private readonly lanes = new Lanes(LOOKED_UP_AT_ONCE, MAY_WAIT);
  /** Look-ups under way of ids unknown to this process. */
  private readonly lookUps = new Map<string, Promise<ApiKeyRow | null>>();

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
    const row = await this.row(keyId, from);
    if (!row || row.mode !== mode || !isHashOf(row.hash, parsed)) return null;
    this.known.set(keyId, true);
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

  private row(keyId: string, from: string | null): Promise<ApiKeyRow | null> {
    if (this.known.get(keyId)) return this.keys.find(keyId);
    // A customer's first requests may be many at once.
    const underWay = this.lookUps.get(keyId);
    if (underWay) return underWay;
    const lookUp = this.lanes
      .run(() => this.keys.find(keyId), from && addressKey(from))
      .catch((cause: unknown) => {
        throw cause instanceof LanesFull
          ? unavailable('Too many API keys are being looked up right now', cause)
          : cause;
      })
      .finally(() => this.lookUps.delete(keyId));
    this.lookUps.set(keyId, lookUp);
    return lookUp;
  }
}

/** Credentials that cannot be checked now: the caller may retry. Its cause is logged once a minute, not for each of them. */
export const unavailable = (detail: string, cause: unknown): Problem =>
  new Problem('enqueue_unavailable', { detail, headers: { 'Retry-After': '5' }, isLogged: true, cause });
