import type { Interval } from '#event-sourcing/store/server-time.js';

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
