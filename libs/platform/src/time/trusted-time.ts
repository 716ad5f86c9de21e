import { randomUUID } from 'node:crypto';
import type { Pool } from 'pg';
import type { Logger } from 'pino';
import { type Clock, ClockUntrusted, type TrustedClock } from '#event-sourcing/core/clock.js';
import type { EventStore } from '#event-sourcing/store/event-store.js';
import { StoreUnavailable } from '#event-sourcing/store/errors.js';
import { serverClockAt, type Interval } from '#event-sourcing/store/server-time.js';
import type { Config } from '../config/settings.js';
import { judgeClocks, type ClockReadings, type ClockVerdict, type OtherClock } from './clock-verdict.js';

/** Clocks that differ by more cause a warning (ms). */
const WARN_MS = 2_000;
/** A verdict older than this (ms) is renewed before it is used. */
const STALE_MS = 15_000;
/** Heartbeats younger than this (s) count. */
const REPORTED_WITHIN_S = 15;

export interface TrustedTimeParts {
  readonly pool: Pick<Pool, 'query'>;
  readonly store: Pick<EventStore, 'readAll' | 'serverTime'>;
  readonly clock: Clock;
  readonly config: Pick<Config, 'CLOCK_REFUSE_MS'>;
  readonly log: Pick<Logger, 'info' | 'warn' | 'error'>;
  /** This process's monotonic clock (ms). */
  readonly elapsed?: () => number;
}

const NOT_ASKED: ClockVerdict = {
  level: 'unknown',
  apartMs: 0,
  wrong: null,
  message: 'the clocks have not been compared yet',
};
const STORE_AWAY: ClockVerdict = { ...NOT_ASKED, message: 'the event store does not answer' };

/**
 * This process's wall clock, compared with the clocks of PostgreSQL and of the event store.
 *
 * `watchTime` compares them at the start and at intervals. In between, the monotonic clock reveals a wall clock that was
 * set, or a machine that was suspended: the clocks are then compared again before the time is used.
 */
export class TrustedTime implements TrustedClock {
  /** Names this process in `platform.heartbeat`. */
  readonly instance = randomUUID();
  private latest: ClockVerdict = NOT_ASKED;
  private readings: ClockReadings = { postgres: null, eventStore: null, others: [] };
  private comparing: Promise<ClockVerdict> | null = null;
  /** When the clocks were last compared, and by how much the wall clock was then beyond the monotonic one (ms). */
  private compared: { readonly at: number; readonly offset: number } | null = null;
  private readonly elapsed: () => number;

  constructor(private readonly parts: TrustedTimeParts) {
    this.elapsed = parts.elapsed ?? (() => performance.now());
  }

  get verdict(): ClockVerdict {
    return this.latest;
  }

  /** How far this process is ahead of PostgreSQL (ms), with the least absolute value possible; `null`: unknown. */
  get aheadOfPostgres(): number | null {
    const { postgres } = this.readings;
    if (this.latest.level === 'unknown' || !postgres) return null;
    return postgres.least > 0 ? -postgres.least : Math.max(0, -postgres.most);
  }

  /** @throws ClockUntrusted; or the error of a server that does not answer, so that the clocks could not be compared */
  async now(): Promise<number> {
    const { level, message } = this.isFresh() ? this.latest : await this.compare();
    if (level === 'refused') throw new ClockUntrusted(message);
    if (level === 'unknown') throw new StoreUnavailable(message, false);
    return this.parts.clock.now();
  }

  /** Whether work that time causes may be done now. */
  async isTrusted(): Promise<boolean> {
    return this.now().then(
      () => true,
      () => false,
    );
  }

  /** False when the last comparison is old or incomplete, or the wall clock has moved against the monotonic one since. */
  isFresh(): boolean {
    if (!this.compared || this.latest.level === 'unknown') return false;
    const { at, offset } = this.compared;
    return this.elapsed() - at < STALE_MS && Math.abs(this.offset() - offset) <= WARN_MS;
  }

  /** Compares the clocks now. One comparison serves all who ask meanwhile. @throws when PostgreSQL is unavailable */
  compare(): Promise<ClockVerdict> {
    this.comparing ??= this.look().finally(() => (this.comparing = null));
    return this.comparing;
  }

  private offset(): number {
    return this.parts.clock.now() - this.elapsed();
  }

  private async look(): Promise<ClockVerdict> {
    try {
      const offset = this.offset();
      const postgres = await this.askPostgres(offset);
      const store = await this.askStore(offset);
      const eventStore = store === 'no answer' ? null : store;
      const readings = { postgres, eventStore, others: await this.askOthers() };
      this.compared = { at: this.elapsed(), offset };
      return this.conclude(readings, store !== 'no answer');
    } catch (error) {
      this.compared = null;
      this.conclude({ postgres: null, eventStore: null, others: [] }, true);
      throw error;
    }
  }

  /**
   * Without the event store, the two other clocks may share the error that only the store's clock reveals: they can refuse
   * the time, and not trust it. What needs the time needs the store, too.
   */
  private conclude(readings: ClockReadings, isStoreThere: boolean): ClockVerdict {
    const { CLOCK_REFUSE_MS: refuseMs } = this.parts.config;
    const former = this.latest;
    this.readings = readings;
    const judged = judgeClocks(readings, { warnMs: Math.min(WARN_MS, refuseMs), refuseMs });
    this.latest = isStoreThere || judged.level === 'refused' ? judged : STORE_AWAY;
    if (former.level !== this.latest.level || former.wrong !== this.latest.wrong) this.report(former);
    return this.latest;
  }

  /** One line for each change. A server that is away has lines of its own. */
  private report(former: ClockVerdict): void {
    const { level, apartMs, wrong, message } = this.latest;
    const details = { component: 'clock', level, apartMs: Math.round(apartMs), wrong };
    if (level === 'refused')
      this.parts.log.error(details, `no work that time causes until the clocks agree: ${message}`);
    else if (level === 'warning') this.parts.log.warn(details, message);
    else if (level === 'trusted' && former !== NOT_ASKED && former.level !== 'unknown')
      this.parts.log.info(details, message);
  }

  /** One round trip: the server's clock was read between its two ends. */
  private async askPostgres(offset: number): Promise<Interval> {
    const before = this.elapsed() + offset;
    const { rows } = await this.parts.pool.query<{ now: number }>(
      'select (extract(epoch from clock_timestamp()) * 1000)::float8 as now',
    );
    const after = this.elapsed() + offset;
    const { now } = rows[0]!;
    return { least: now - after, most: now - before };
  }

  /**
   * EventStoreDB has no call for its time, but answers over HTTP, with a date. Without one, its newest record is a lower
   * bound. `null` when it answers and shows neither.
   */
  private async askStore(offset: number): Promise<Interval | 'no answer' | null> {
    const { store } = this.parts;
    try {
      let newest: number | null = null;
      for await (const { recordedAt } of store.readAll({ direction: 'backwards', limit: 1 }))
        newest = recordedAt ?? null;
      const shown = await store.serverTime();
      const moment = this.elapsed();
      const clock = shown ? serverClockAt(shown, moment) : null;
      const wall = moment + offset;
      if (clock) return { least: clock.least - wall, most: clock.most - wall };
      return newest === null ? null : { least: newest - wall, most: Infinity };
    } catch {
      return 'no answer';
    }
  }

  /** Without the table, or its newer columns, the servers' clocks still count. */
  private async askOthers(): Promise<readonly OtherClock[]> {
    try {
      const { rows } = await this.parts.pool.query<{ role: string; host: string | null; aheadMs: number }>(
        `select role, host, ahead_ms as "aheadMs" from platform.heartbeat
         where instance <> $1 and ahead_ms is not null
           and beat_at > clock_timestamp() - make_interval(secs => $2)`,
        [this.instance, REPORTED_WITHIN_S],
      );
      return rows.map(({ role, host, aheadMs }) => ({ name: host ? `${role} on ${host}` : role, aheadMs }));
    } catch {
      return [];
    }
  }
}
