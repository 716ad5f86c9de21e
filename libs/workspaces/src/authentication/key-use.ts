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
import { within } from '@app/platform/process/within.js';
import { LOGGER } from '@app/platform/telemetry/logger.js';
import { CLOCK } from '@app/platform/tokens.js';

const HOUR_MS = 3_600_000;
/** How often what is new is written, and how long that may take when the process stops (ms). */
const WRITE_EVERY_MS = 10_000;
const LAST_WRITE_WITHIN_MS = 1_000;
/** Keys whose hour is remembered, and most that wait to be written: what is more is noted at its next use. */
const KEYS = 10_000;

/** Tells when keys were last used, to the hour: each process writes a key once in an hour, many keys in one statement. */
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

  /** Connections end with the shutdown itself. */
  async beforeApplicationShutdown(): Promise<void> {
    clearInterval(this.timer);
    await within(LAST_WRITE_WITHIN_MS, this.write());
  }

  /** A key was accepted. Costs no more than a look at a map. */
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
      // Not lost: each is noted again when it is used again.
      for (const keyId of batch.keys()) this.known.delete(keyId);
      this.log.warn({ reason: (error as Error).message }, 'the last use of keys was not written');
    }
  }
}
