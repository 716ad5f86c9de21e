import {
  Inject,
  Injectable,
  type BeforeApplicationShutdown,
  type OnApplicationBootstrap,
} from '@nestjs/common';
import type { Pool } from 'pg';
import type { Logger } from 'pino';
import { instant, type Clock } from '@app/event-sourcing/core/clock.js';
import { RecentlyUsed } from '@app/event-sourcing/handling/recently-used.js';
import { POSTGRES } from '@app/platform/postgres/pool.js';
import { within } from '@app/platform/async/within.js';
import { LOGGER } from '@app/platform/telemetry/logger.js';
import { CLOCK } from '@app/platform/tokens.js';

const HOUR_MS = 3_600_000;
/** How often new uses are written, and how long the last write may take when the process stops (ms). */
const WRITE_EVERY_MS = 10_000;
const LAST_WRITE_WITHIN_MS = 1_000;
/** Most keys whose hour is remembered, and most that wait to be written. Further keys are noted at their next use. */
const KEYS = 10_000;

/**
 * Records the hour in which each key was last used. Each process writes a key once an hour, many keys in one statement.
 */
@Injectable()
export class KeyUse implements OnApplicationBootstrap, BeforeApplicationShutdown {
  private readonly known = new RecentlyUsed<string, number>(KEYS);
  private waiting = new Map<string, number>();
  private timer: NodeJS.Timeout | undefined;

  constructor(
    @Inject(POSTGRES) private readonly pool: Pool,
    @Inject(CLOCK) private readonly clock: Clock,
    @Inject(LOGGER) private readonly log: Pick<Logger, 'warn'>,
  ) {}

  onApplicationBootstrap(): void {
    this.timer = setInterval(() => void this.write(), WRITE_EVERY_MS).unref();
  }

  /** Runs before the shutdown hook that closes the connections. */
  async beforeApplicationShutdown(): Promise<void> {
    clearInterval(this.timer);
    await within(LAST_WRITE_WITHIN_MS, this.write());
  }

  /** Notes that a key was accepted. Costs one map look-up. */
  note(keyId: string): void {
    const hour = Math.floor(this.clock.now() / HOUR_MS) * HOUR_MS;
    if (this.known.get(keyId) === hour || this.waiting.size >= KEYS) return;
    this.known.set(keyId, hour);
    this.waiting.set(keyId, hour);
  }

  private async write(): Promise<void> {
    if (this.waiting.size === 0) return;
    const batch = this.waiting;
    this.waiting = new Map();
    try {
      await this.pool.query(
        `insert into workspaces.api_key_use as use (key_id, used_at)
         select * from unnest($1::text[], $2::timestamptz[]) as fresh (key_id, used_at) order by key_id
         on conflict (key_id) do update set used_at = excluded.used_at where use.used_at < excluded.used_at`,
        [[...batch.keys()], [...batch.values()].map((hour) => instant(hour))],
      );
    } catch (error) {
      // Nothing is lost: each key is noted again at its next use.
      for (const keyId of batch.keys()) this.known.delete(keyId);
      this.log.warn({ reason: (error as Error).message }, 'the last use of keys was not written');
    }
  }
}
