import { Inject, Injectable, type OnApplicationBootstrap, type OnApplicationShutdown } from '@nestjs/common';
import { timingSafeEqual } from 'node:crypto';
import type { Clock } from '@app/event-sourcing/core/clock.js';
import { RecentlyUsed } from '@app/event-sourcing/handling/recently-used.js';
import type { EndedKey, Principal } from '@app/platform/auth/authentication.js';
import { Problem } from '@app/platform/http/problem.js';
import { Notifications } from '@app/platform/postgres/notifications.js';
import { CLOCK, CONFIG } from '@app/platform/tokens.js';
import { hashSecret, parseApiKey } from '../domain/api-key/api-key.js';
import { ApiKeyQuery, type ApiKeyRow } from '../read-models/api-key/api-key.query.js';
import { API_KEY_REVOKED } from '../read-models/api-key/revocations.js';
import { KeyUse } from './key-use.js';
import { RevokedKeys } from './revoked-keys.js';
import { Lanes, LanesFull } from './tokens/lanes.js';
import type { Config } from '../settings.js';

const CACHED_KEYS = 10_000;
/** Ids that this process does not know are looked up so many at a time, so many more wait, and so long (ms). */
const LOOKED_UP_AT_ONCE = 4;
const MAY_WAIT = 100;
const LONGEST_WAIT_MS = 2_000;

interface Trusted {
  readonly row: ApiKeyRow;
  /** When it was asked for, milliseconds since the epoch. */
  readonly askedAt: number;
}

/**
 * Verifies API keys: shape and checksum without asking anyone, then the stored hash in constant time. PostgreSQL tells
 * of a revocation at once. Whatever it could not tell, a row is trusted for API_KEY_CACHE_MS since it was asked for, and
 * a process that cannot ask again refuses (503): so long, at most, a revoked key works where PostgreSQL is out of reach.
 * A checksum can be made up: ids that are not known have few look-ups among them, and cannot hold up those that are.
 */
@Injectable()
export class ApiKeyAuthenticator implements OnApplicationBootstrap, OnApplicationShutdown {
  private cache = new RecentlyUsed<string, Trusted>(CACHED_KEYS);
  private readonly revocations: Notifications;
  private readonly lanes = new Lanes(LOOKED_UP_AT_ONCE, MAY_WAIT);
  /** Look-ups under way, by the id of the key, and since when. */
  private readonly asking = new Map<string, { readonly row: Promise<ApiKeyRow | null>; since: number }>();

  constructor(
    private readonly keys: ApiKeyQuery,
    @Inject(CLOCK) private readonly clock: Clock,
    @Inject(CONFIG) private readonly config: Pick<Config, 'API_KEY_CACHE_MS' | 'DATABASE_URL'>,
    private readonly use: KeyUse,
    private readonly revoked: RevokedKeys,
  ) {
    this.revocations = new Notifications(config.DATABASE_URL, API_KEY_REVOKED, {
      onNotification: (keyId) => this.revoked.add(keyId),
      onConnected: () => {
        this.cache = new RecentlyUsed(CACHED_KEYS);
        this.asking.clear();
      },
    });
  }

  onApplicationBootstrap(): void {
    this.revocations.start();
  }

  async onApplicationShutdown(): Promise<void> {
    await this.revocations.stop();
  }

  /** @returns an ended key only to who has its secret: what is made of it must not tell others that it exists */
  async verify(apiKey: string): Promise<Principal | EndedKey | null> {
    const parsed = parseApiKey(apiKey);
    if (!parsed) return null;
    const { keyId, secret } = parsed;
    const row = await this.row(keyId);
    if (!row || !timingSafeEqual(Buffer.from(row.hash), Buffer.from(hashSecret(secret)))) return null;
    const expired = row.expiresAt !== null && row.expiresAt.getTime() <= this.clock.now();
    const identity = { workspaceId: row.workspaceId, actor: `apiKey:${keyId}` };
    if (expired || row.revokedAt !== null || this.revoked.has(keyId)) return { ...identity, isEnded: true };
    this.use.note(keyId);
    return { ...identity, mode: 'apiKey', scopes: [] };
  }

  private async row(keyId: string): Promise<ApiKeyRow | null> {
    const now = this.clock.now();
    const cached = this.cache.get(keyId);
    if (cached && this.isFresh(cached.askedAt, now)) return cached.row;
    const underWay = this.asking.get(keyId);
    if (underWay && this.isFresh(underWay.since, now)) return underWay.row;
    const asking = { row: this.ask(keyId, cached !== undefined), since: now };
    this.asking.set(keyId, asking);
    try {
      return await asking.row;
    } finally {
      if (this.asking.get(keyId) === asking) this.asking.delete(keyId);
    }
  }

  /** A clock that was set back must not make a row trusted for longer. */
  private isFresh(since: number, now: number): boolean {
    return now >= since && now - since < this.config.API_KEY_CACHE_MS;
  }

  private async ask(keyId: string, isKnown: boolean): Promise<ApiKeyRow | null> {
    const since = this.clock.now();
    const { cache } = this;
    let askedAt = since;
    const find = (): Promise<ApiKeyRow | null> => {
      askedAt = this.clock.now();
      if (!isKnown && askedAt - since > LONGEST_WAIT_MS) throw new LanesFull();
      return this.keys.find(keyId);
    };
    const row = await (isKnown ? find() : this.lanes.run(async () => find()).catch(asProblem));
    // Unknown ids are not kept: a key issued a moment ago must work as soon as it is projected.
    if (row) cache.set(keyId, { row, askedAt });
    return row;
  }
}

const asProblem = (cause: unknown): never => {
  if (!(cause instanceof LanesFull)) throw cause;
  throw new Problem('enqueue_unavailable', {
    detail: 'Too many API keys are being looked up right now',
    headers: { 'Retry-After': '5' },
    isLogged: true,
    cause,
  });
};
