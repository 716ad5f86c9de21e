import { serverClockAt, type Interval } from '#event-sourcing/store/server-time.js';
import { randomUUID } from 'node:crypto';
import type { Pool } from 'pg';
import type { Logger } from 'pino';
import { ClockUntrusted, type Clock, type TrustedClock } from '#event-sourcing/core/clock.js';
import type { EventStore } from '#event-sourcing/store/event-store.js';
import { StoreUnavailable } from '#event-sourcing/store/errors.js';
import type { Config } from '../config/settings.js';

/** The clocks that must agree: this process's, and those of both servers. */
type ClockName = 'process' | 'postgres' | 'event_store';

const CLOCK_TITLES: Readonly<Record<ClockName, string>> = {
  process: 'this process',
  postgres: 'PostgreSQL',
  event_store: 'the event store',
};

/** What one look showed. Bounds are of that clock minus this process's (ms); `null`: no answer showed it. */
export interface ClockReadings {
  readonly postgres: Interval | null;
  readonly eventStore: Interval | null;
  /** Other processes that reported lately: how far each is ahead of PostgreSQL (ms). */
  readonly others: readonly OtherClock[];
}

export interface OtherClock {
  /** Such as `worker on host-3`. */
  readonly name: string;
  readonly aheadMs: number;
}

/** Largest accepted differences between two clocks (ms). */
export interface ClockBounds {
  readonly warnMs: number;
  readonly refuseMs: number;
}

export interface ClockVerdict {
  /** `refused`: no work that time causes. `unknown`: neither, since a server did not answer. */
  readonly level: 'trusted' | 'warning' | 'refused' | 'unknown';
  /** The largest difference between two of the three clocks that is certain (ms). */
  readonly apartMs: number;
  /** The clock that is wrong, if the two others agree. */
  readonly wrong: ClockName | null;
  /** One sentence without its full stop. */
  readonly message: string;
}

/** How far apart two clocks are at least. */
const gap = (a: Interval, b: Interval): number => Math.max(0, a.least - b.most, b.least - a.most);

const PAIRS: readonly (readonly [ClockName, ClockName, third: ClockName])[] = [
  ['process', 'postgres', 'event_store'],
  ['process', 'event_store', 'postgres'],
  ['postgres', 'event_store', 'process'],
];

/**
 * Judges the clocks. Two servers that agree show that this process is wrong; with two clocks alone, nobody can know.
 * Other processes do not decide, because they may share a machine with either side. Their own checks stop them.
 */
export const judgeClocks = (
  { postgres, eventStore, others }: ClockReadings,
  { warnMs, refuseMs }: ClockBounds,
): ClockVerdict => {
  const clocks = new Map<ClockName, Interval>([['process', { least: 0, most: 0 }]]);
  if (postgres) clocks.set('postgres', postgres);
  if (eventStore) clocks.set('event_store', eventStore);
  const gaps = PAIRS.flatMap(([a, b, third]) => {
    const [one, other] = [clocks.get(a), clocks.get(b)];
    return one && other ? [{ a, b, third, apartMs: gap(one, other) }] : [];
  });
  const widest = gaps.reduce<(typeof gaps)[number] | null>(
    (most, one) => (most && most.apartMs >= one.apartMs ? most : one),
    null,
  );
  const apartMs = widest?.apartMs ?? 0;
  const level = apartMs > refuseMs ? 'refused' : apartMs > warnMs ? 'warning' : 'trusted';
  if (widest && level !== 'trusted') {
    const agreeing = gaps.find((one) => one.apartMs <= warnMs);
    const wrong = agreeing && gaps.length === PAIRS.length ? agreeing.third : null;
    return { level, apartMs, wrong, message: differing(widest, clocks, wrong) };
  }
  if (!postgres) return { level: 'unknown', apartMs, wrong: null, message: 'PostgreSQL could not be asked' };
  const stray = others.filter((one) => Math.abs(one.aheadMs) > warnMs);
  if (stray.length > 0) {
    const message = `the clocks agree, except for ${stray.map(described).join(', ')}`;
    return { level: 'warning', apartMs, wrong: null, message };
  }
  return { level, apartMs, wrong: null, message: 'the clocks agree' };
};

const described = ({ name, aheadMs }: OtherClock): string =>
  `${name} (${duration(Math.abs(aheadMs))} ${aheadMs > 0 ? 'ahead of' : 'behind'} PostgreSQL)`;

const differing = (
  { a, b, apartMs }: { a: ClockName; b: ClockName; apartMs: number },
  clocks: ReadonlyMap<ClockName, Interval>,
  wrong: ClockName | null,
): string => {
  const [subject, other] = wrong === b ? [b, a] : [a, b];
  const isAhead = clocks.get(subject)!.least > clocks.get(other)!.most;
  const says = `the clock of ${CLOCK_TITLES[subject]} is ${duration(apartMs)} ${isAhead ? 'ahead of' : 'behind'} that of ${CLOCK_TITLES[other]}`;
  return wrong === null ? `${says}; which of them is wrong is not known` : `${says}, and is wrong`;
};

const UNITS: readonly (readonly [name: string, ms: number])[] = [
  ['days', 86_400_000],
  ['hours', 3_600_000],
  ['minutes', 60_000],
  ['s', 1_000],
];

/** A duration as a person says it: at least two of the unit. */
const duration = (ms: number): string => {
  const [name, unit] = UNITS.find(([, one]) => ms >= 2 * one) ?? ['ms', 1];
  return `${Math.round(ms / unit)} ${name}`;
};

/** Clocks that differ by more cause a warning (ms). */
const WARN_MS = 2_000;
/** A verdict older than this (ms) is renewed before it is used. */
const STALE_MS = 15_000;
/** Heartbeats younger than this (s) count. */
const REPORTED_WITHIN_S = 15;

export interface TrustedTimeParts {
  readonly pool: Pick<Pool, 'query'>;
  readonly store: Pick<EventStore, 'serverTime'>;
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

  /** `null` when it answers and does not show its clock. */
  private async askStore(offset: number): Promise<Interval | 'no answer' | null> {
    try {
      const shown = await this.parts.store.serverTime();
      const moment = this.elapsed();
      const clock = shown && serverClockAt(shown, moment);
      const wall = moment + offset;
      return clock && { least: clock.least - wall, most: clock.most - wall };
    } catch {
      return 'no answer';
    }
  }

  /** Without the table, the servers' clocks still count. */
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
