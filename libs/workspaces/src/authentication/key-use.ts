import { Inject, Injectable } from '@nestjs/common';
import type { Pool } from 'pg';
import type { Logger } from 'pino';
import { LRUCache } from 'lru-cache';
import { instant, type Clock } from '#event-sourcing/core/clock.js';
import { POSTGRES } from '#platform/postgres/pool.js';
import { CLOCK, LOGGER } from '#platform/tokens.js';
import { WrittenTogether } from '#platform/work/written-together.js';

const HOUR_MS = 3_600_000;
/** Most keys whose hour is remembered, and most that wait to be written. Further keys are noted at their next use. */
const KEYS = 10_000;

/**
 * Records the hour in which each key was last used (milliseconds since the epoch). Each process writes a key once an
 * hour, many keys in one statement.
 */
@Injectable()
export class KeyUse extends WrittenTogether<number> {
  private readonly known = new LRUCache<string, number>({ max: KEYS });

  constructor(
    @Inject(POSTGRES) private readonly pool: Pool,
    @Inject(CLOCK) private readonly clock: Clock,
    @Inject(LOGGER) log: Pick<Logger, 'warn'>,
  ) {
    super('the last uses of keys', log);
  }

  /** Notes that a key was accepted. Costs one map look-up. */
  note(keyId: string): void {
    const hour = Math.floor(this.clock.now() / HOUR_MS) * HOUR_MS;
    if (this.known.get(keyId) === hour || this.waiting.size >= KEYS) return;
    this.known.set(keyId, hour);
    this.waiting.set(keyId, hour);
  }

  protected override async store(batch: ReadonlyMap<string, number>): Promise<void> {
    await this.pool.query(
      `insert into workspaces.api_key_use as use (key_id, used_at)
       select * from unnest($1::text[], $2::timestamptz[]) as fresh (key_id, used_at) order by key_id
       on conflict (key_id) do update set used_at = excluded.used_at where use.used_at < excluded.used_at`,
      [[...batch.keys()], [...batch.values()].map((hour) => instant(hour))],
    );
  }

  /** Nothing is lost: each key is noted again at its next use. */
  protected override takeBack(batch: ReadonlyMap<string, number>): void {
    for (const keyId of batch.keys()) this.known.delete(keyId);
  }
}
