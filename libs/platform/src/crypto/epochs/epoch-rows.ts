import type { Pool } from 'pg';
import { askedTogether } from '../../postgres/asked-together.js';
import type { Epoch } from './epoch.js';

export type Provider = 'environment' | 'file';

/** PostgreSQL's record of an epoch. Times in milliseconds since 1970, by its clock. */
export interface EpochRow {
  readonly epoch: string;
  readonly provider: Provider;
  readonly fingerprint: Buffer | null;
  readonly startedAt: number;
  /** `null` while unknown, and with the provider `environment`. */
  readonly endsAt: number | null;
  readonly emptiedAt: number | null;
  readonly announcedAt: number | null;
  readonly destroyedAt: number | null;
}

const WRITERS_PASS_WITHIN_MS = 200;
const LOCK_NOT_AVAILABLE = '55P03';

const ms = (column: string): string => `(extract(epoch from ${column}) * 1000)::float8`;

const COLUMNS = `epoch, provider, fingerprint, ${ms('started_at')} as "startedAt",
  ${ms("nullif(ends_at, 'infinity')")} as "endsAt", ${ms('emptied_at')} as "emptiedAt",
  ${ms('announced_at')} as "announcedAt", ${ms('destroyed_at')} as "destroyedAt"`;

/** The statements on `platform.key_epoch`. Every time is PostgreSQL's. */
export class EpochRows {
  /** One statement for all readings that are ordered at the same moment. */
  private readonly wrapping = askedTogether(async (asked: readonly 'now'[]) => {
    const { rows } = await this.pool.query<EpochRow>(
      `select ${COLUMNS} from platform.key_epoch
       where provider = 'file' and ends_at > clock_timestamp() and destroyed_at is null
       order by started_at desc limit 1`,
    );
    return asked.map(() => rows[0] ?? null);
  });

  constructor(private readonly pool: Pool) {}

  async all(): Promise<readonly EpochRow[]> {
    const { rows } = await this.pool.query<EpochRow>(
      `select ${COLUMNS} from platform.key_epoch order by started_at, epoch`,
    );
    return rows;
  }

  async find(epoch: string): Promise<EpochRow | null> {
    const { rows } = await this.pool.query<EpochRow>(
      `select ${COLUMNS} from platform.key_epoch where epoch = $1`,
      [epoch],
    );
    return rows[0] ?? null;
  }

  /** The epoch whose key wraps now. */
  current(): Promise<EpochRow | null> {
    return this.wrapping('now');
  }

  /**
   * What the next epoch follows: the newest epoch whose key is not destroyed, and the earliest start. That is after the
   * end of all ended epochs, and a second after the start of open ones. `null` while an epoch wraps: another process has
   * just started it.
   */
  async before(): Promise<{ now: number; lastEnd: number; newest: string | null } | null> {
    const { rows } = await this.pool.query<{
      wraps: boolean;
      now: number;
      lastEnd: number | null;
      newest: string | null;
    }>(
      `select exists (select from platform.key_epoch
                      where provider = 'file' and ends_at > clock_timestamp() and destroyed_at is null) as wraps,
              ${ms('clock_timestamp()')} as now,
              (select ${ms("max(case when ends_at <= clock_timestamp() then ends_at else started_at + interval '1 second' end)")}
               from platform.key_epoch where provider <> 'environment') as "lastEnd",
              (select epoch from platform.key_epoch where provider = 'file' and destroyed_at is null
               order by started_at desc limit 1) as newest`,
    );
    const { wraps, now, lastEnd, newest } = rows[0]!;
    return wraps ? null : { now, lastEnd: lastEnd ?? 0, newest };
  }

  /** When several processes start the same epoch, the first one wins. */
  async add({ id, startsAt, endsAt }: Epoch, fingerprint: Buffer): Promise<void> {
    await this.pool.query(
      `insert into platform.key_epoch (epoch, provider, fingerprint, started_at, ends_at)
       values ($1, 'file', $2, to_timestamp($3::float8 / 1000), to_timestamp($4::float8 / 1000)) on conflict do nothing`,
      [id, fingerprint, startsAt, endsAt],
    );
  }

  /** Adds, as ended, an epoch whose key exists but that this database, restored from a backup, does not have. */
  async adopt(epoch: string, startsAt: number): Promise<void> {
    await this.pool.query(
      `insert into platform.key_epoch (epoch, provider, started_at, ends_at)
       values ($1, 'file', to_timestamp($2::float8 / 1000), clock_timestamp()) on conflict do nothing`,
      [epoch, startsAt],
    );
  }

  /** Whether there are keys of epochs that are not destroyed. */
  async hasEpochs(): Promise<boolean> {
    const { rows } = await this.pool.query<{ has: boolean }>(
      `select exists (select from platform.key_epoch where provider <> 'environment' and destroyed_at is null) as has`,
    );
    return rows[0]!.has;
  }

  /** With the provider `environment`, the ids of ENCRYPTION_KEYS are the epochs: one seals, the others have ended. */
  async recordRing(currentId: string): Promise<void> {
    await this.pool.query(
      `insert into platform.key_epoch (epoch, provider, ends_at) values ($1, 'environment', 'infinity')
       on conflict (epoch) do update set ends_at = 'infinity', destroyed_at = null
       where key_epoch.ends_at <> 'infinity' or key_epoch.destroyed_at is not null`,
      [currentId],
    );
    await this.endRing(currentId);
  }

  async endRing(currentId: string | null): Promise<void> {
    await this.pool.query(
      `update platform.key_epoch set ends_at = clock_timestamp()
       where provider = 'environment' and ends_at = 'infinity' and epoch is distinct from $1`,
      [currentId],
    );
  }

  /** Ends the current epoch early. */
  async end(): Promise<void> {
    await this.pool.query(
      `update platform.key_epoch set ends_at = clock_timestamp()
       where provider = 'file' and ends_at > clock_timestamp()`,
    );
  }

  async markEmptied(epochs: readonly string[]): Promise<void> {
    await this.pool.query(
      `update platform.key_epoch set emptied_at = clock_timestamp()
       where epoch = any($1) and emptied_at is null and ends_at <= clock_timestamp()`,
      [epochs],
    );
  }

  /**
   * Announces the destruction of a key. Replaces an announcement dated in the future, which came from a wrong clock.
   */
  async announce(epoch: string): Promise<{ readonly announcedAt: number; readonly now: number }> {
    const { rows } = await this.pool.query<{ announcedAt: number; now: number }>(
      `update platform.key_epoch set announced_at = least(announced_at, clock_timestamp()) where epoch = $1
       returning ${ms('announced_at')} as "announcedAt", ${ms('clock_timestamp()')} as now`,
      [epoch],
    );
    return rows[0]!;
  }

  /** Marks a key as destroyed. A lost current key may be marked too, which ends its epoch. */
  async markDestroyed(epoch: string): Promise<void> {
    await this.pool.query(
      `update platform.key_epoch set destroyed_at = clock_timestamp(), ends_at = least(ends_at, clock_timestamp())
       where epoch = $1 and destroyed_at is null`,
      [epoch],
    );
  }

  /**
   * Takes the mark back from an epoch whose key was there after all. The epoch stays ended. Its rows are rewrapped and
   * its destruction is announced anew, because both may have been noted before the mark.
   */
  async unmarkDestroyed(epoch: string): Promise<void> {
    await this.pool.query(
      `update platform.key_epoch set destroyed_at = null, emptied_at = null, announced_at = null
       where epoch = $1 and provider = 'file' and destroyed_at is not null`,
      [epoch],
    );
  }

  async now(): Promise<number> {
    const { rows } = await this.pool.query<{ now: number }>(`select ${ms('clock_timestamp()')} as now`);
    return rows[0]!.now;
  }

  /**
   * Waits for every statement that was storing keys at the time of the call. Later statements are checked against the
   * current ends of epochs. They wait too, so this waits only briefly.
   * @returns whether all of them have ended
   */
  async writersPassed(): Promise<boolean> {
    try {
      // One message is one implicit transaction: the server ends it, even if this process freezes meanwhile.
      await this.pool.query(
        `set local lock_timeout = '${WRITERS_PASS_WITHIN_MS}ms'; lock table platform.subject_key in share mode`,
      );
      return true;
    } catch (error) {
      if ((error as { code?: unknown }).code === LOCK_NOT_AVAILABLE) return false;
      throw error;
    }
  }
}
