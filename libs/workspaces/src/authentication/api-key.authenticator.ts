import { Inject, Injectable, type OnApplicationBootstrap, type OnApplicationShutdown } from '@nestjs/common';
import { LRUCache } from 'lru-cache';
import type { Pool } from 'pg';
import { type Clock, instant } from '#event-sourcing/core/clock.js';
import type { Principal, RefusedKey } from '#platform/auth/authentication.js';
import { Problem } from '#platform/http/problem.js';
import { Notifications } from '#platform/postgres/notifications.js';
import { POSTGRES } from '#platform/postgres/pool.js';
import { CLOCK, CONFIG, STEADY_CLOCK } from '#platform/tokens.js';
import { addressKey } from '#platform/rate-limit/address.js';
import { Lanes, LanesFull } from '#platform/work/lanes.js';
import { isWithin } from '../contracts/networks.js';
import { isHashOf, parseApiKey } from '../domain/api-key.js';
import { API_KEY_REVOKED } from '../projections.js';
import { ApiKeyQuery, type ApiKeyRow } from '../read-models/queries.js';
import type { Config } from '../settings.js';

/** Far more keys than can be revoked while a row of one is still trusted. */
const REMEMBERED = 10_000;

/**
 * Keys that this process has revoked: in the log, and perhaps not yet in PostgreSQL. A revocation is never undone. A row
 * read before the revocation must not count, even if it arrives later.
 */
@Injectable()
export class RevokedKeys {
  private readonly ids = new LRUCache<string, true>({ max: REMEMBERED });

  add(keyId: string): void {
    this.ids.set(keyId, true);
  }

  has(keyId: string): boolean {
    return this.ids.get(keyId) !== undefined;
  }
}

const HOUR_MS = 3_600_000;
/** Most keys whose hour is remembered. */
const KEYS = 10_000;

/** Records the hour in which each key was last used (milliseconds since the epoch). Each process writes a key once an hour. */
@Injectable()
export class KeyUse {
  private readonly known = new LRUCache<string, number>({ max: KEYS });

  constructor(
    @Inject(POSTGRES) private readonly pool: Pool,
    @Inject(CLOCK) private readonly clock: Clock,
  ) {}

  /** Notes that a key was accepted. One that cannot be written is noted again at the key's next use. */
  note(keyId: string): void {
    const hour = Math.floor(this.clock.now() / HOUR_MS) * HOUR_MS;
    if (this.known.get(keyId) === hour) return;
    this.known.set(keyId, hour);
    this.write(keyId, hour).catch(() => this.known.delete(keyId));
  }

  private async write(keyId: string, hour: number): Promise<void> {
    await this.pool.query(
      `insert into workspaces.api_key_use as use (key_id, used_at) values ($1, $2)
       on conflict (key_id) do update set used_at = excluded.used_at where use.used_at < excluded.used_at`,
      [keyId, instant(hour)],
    );
  }
}

const CACHED_KEYS = 10_000;
/**
 * How long a row is trusted after its query (ms). A revocation takes effect at once, and within this time where PostgreSQL is
 * out of reach, as docs/security.md promises; one query in so long for each key in use costs PostgreSQL little.
 */
export const CACHED_MS = 3_000;
/** Look-ups of ids unknown to this process: how many run at a time, how many more wait, and how long (ms). */
const LOOKED_UP_AT_ONCE = 4;
const MAY_WAIT = 100;
const LONGEST_WAIT_MS = 2_000;

interface Trusted {
  readonly row: ApiKeyRow;
  /** When the query was sent, milliseconds since the epoch; -Infinity: it is asked for again before it counts. */
  readonly queriedAt: number;
}

interface Answer {
  readonly row: ApiKeyRow | null;
  readonly queriedAt: number;
}

interface LookUp {
  readonly since: number;
  readonly answer: Promise<Answer>;
  /** The key may have been revoked since: its row counts no more. */
  isDropped: boolean;
}

/**
 * Verifies API keys: first shape and checksum, without a query, then the stored hash in constant time.
 *
 * PostgreSQL notifies every process of a revocation at once. Everybody with a login there can notify: the notification
 * only has the row asked for again, and the row decides. In case a notification is lost, a row is trusted for
 * CACHED_MS after its query. A process that cannot query again then refuses (503). While PostgreSQL is
 * unreachable, a revoked key therefore works at most that long.
 *
 * A checksum can be made up. Ids unknown to this process share a few look-ups, so they cannot delay known ones.
 */
@Injectable()
export class ApiKeyAuthenticator implements OnApplicationBootstrap, OnApplicationShutdown {
  private cache = new LRUCache<string, Trusted>({ max: CACHED_KEYS });
  private readonly revocations: Notifications;
  private readonly lanes = new Lanes(LOOKED_UP_AT_ONCE, MAY_WAIT);
  /** Look-ups in progress by key id. */
  private readonly lookUps = new Map<string, LookUp>();

  constructor(
    private readonly keys: ApiKeyQuery,
    @Inject(CLOCK) private readonly clock: Clock,
    @Inject(CONFIG) config: Pick<Config, 'DATABASE_URL'>,
    private readonly use: KeyUse,
    private readonly revoked: RevokedKeys,
    @Inject(STEADY_CLOCK) private readonly steady: Clock,
  ) {
    this.revocations = new Notifications(config.DATABASE_URL, API_KEY_REVOKED, {
      onNotification: (keyId) => {
        const cached = this.cache.get(keyId);
        if (cached) this.cache.set(keyId, { row: cached.row, queriedAt: -Infinity });
        this.dropLookUp(keyId);
      },
      onConnected: () => {
        this.cache = new LRUCache({ max: CACHED_KEYS });
        for (const keyId of this.lookUps.keys()) this.dropLookUp(keyId);
      },
    });
  }

  onApplicationBootstrap(): void {
    this.revocations.start();
  }

  async onApplicationShutdown(): Promise<void> {
    await this.revocations.stop();
  }

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
    const expired = row.expiresAt !== null && row.expiresAt.getTime() <= this.clock.now();
    const identity = { workspaceId: row.workspaceId, actor: `apiKey:${keyId}` };
    if (expired || row.revokedAt !== null || this.revoked.has(keyId))
      return { ...identity, refusal: 'ended' };
    if (row.networks.length > 0 && !isWithin(from ?? '', row.networks))
      return { ...identity, refusal: 'network' };
    this.use.note(keyId);
    return { ...identity, authMode: 'apiKey', mode, sees: [mode], scopes: row.scopes };
  }

  private async row(keyId: string, from: string | null): Promise<ApiKeyRow | null> {
    const now = this.steady.now();
    const cached = this.cache.get(keyId);
    if (cached && this.isFresh(cached.queriedAt, now)) return cached.row;
    const isKnown = cached !== undefined;
    const first = await this.ask(keyId, isKnown, from);
    // Once more is enough: that query follows the notification.
    return first.isDropped ? (await this.ask(keyId, isKnown, from)).row : first.row;
  }

  /** Joins the look-up in progress, or begins one. */
  private async ask(
    keyId: string,
    isKnown: boolean,
    from: string | null,
  ): Promise<{ row: ApiKeyRow | null; isDropped: boolean }> {
    const now = this.steady.now();
    const current = this.lookUps.get(keyId);
    const lookUp =
      current && this.isFresh(current.since, now)
        ? current
        : { since: now, answer: this.lookUp(keyId, isKnown, from), isDropped: false };
    this.lookUps.set(keyId, lookUp);
    const isLatest = (): boolean => this.lookUps.get(keyId) === lookUp;
    try {
      const { row, queriedAt } = await lookUp.answer;
      // Unknown ids are not cached: a newly issued key must work as soon as it is projected.
      if (row && isLatest()) this.cache.set(keyId, { row, queriedAt });
      return { row, isDropped: lookUp.isDropped };
    } finally {
      if (isLatest()) this.lookUps.delete(keyId);
    }
  }

  private dropLookUp(keyId: string): void {
    const lookUp = this.lookUps.get(keyId);
    if (lookUp) lookUp.isDropped = true;
    this.lookUps.delete(keyId);
  }

  private isFresh(since: number, now: number): boolean {
    return now - since < CACHED_MS;
  }

  private async lookUp(keyId: string, isKnown: boolean, from: string | null): Promise<Answer> {
    const since = this.steady.now();
    let queriedAt = since;
    const find = (): Promise<ApiKeyRow | null> => {
      queriedAt = this.steady.now();
      if (!isKnown && queriedAt - since > LONGEST_WAIT_MS) throw new LanesFull();
      return this.keys.find(keyId);
    };
    const row = await (isKnown
      ? find()
      : this.lanes.run(async () => find(), from && addressKey(from)).catch(asProblem));
    return { row, queriedAt };
  }
}

const asProblem = (cause: unknown): never => {
  throw cause instanceof LanesFull
    ? unavailable('Too many API keys are being looked up right now', cause)
    : cause;
};

/** Credentials that cannot be checked now: the caller may retry. Its cause is logged once a minute, not for each of them. */
export const unavailable = (detail: string, cause: unknown): Problem =>
  new Problem('enqueue_unavailable', { detail, headers: { 'Retry-After': '5' }, isLogged: true, cause });
