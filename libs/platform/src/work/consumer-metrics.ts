import type { Pool } from 'pg';
import type { Registry } from 'prom-client';
import type { StoredEvent } from '#event-sourcing/core/event.js';
import { categoryOf } from '#event-sourcing/core/stream-name.js';
import type { Consumer } from '#event-sourcing/projections/consumer.js';
import { beyondTheLog } from '#event-sourcing/projections/consumer-lag.js';
import { collect, type EventStore } from '#event-sourcing/store/event-store.js';
import { ageOf } from '#event-sourcing/store/server-time.js';
import { scrapedGauges, type Sample } from '../telemetry/scraped-gauges.js';

/** Maximum number of events to read at once behind a consumer: a lag of this value means at least this many. */
const LOOK_AHEAD = 2_000;
/** Most reads for one scrape. */
const LOOKS = 10;

interface ConsumerRow {
  readonly name: string;
  readonly position: string | null;
  readonly halted: boolean;
  readonly parked: number;
}

const CONSUMERS = `
  select name, position::text, status = 'halted' as halted,
         (select count(distinct stream)::integer from event_sourcing.parked_stream where parked_stream.consumer = consumer.name) as parked
  from event_sourcing.consumer where name = any ($1)`;

/** How far consumers are behind the log. Every worker reports the same values: read one, or take the maximum. */
export const measureConsumers = (
  { pool, store }: { pool: Pool; store: EventStore },
  consumers: readonly Consumer[],
  registry: Registry,
): void => {
  const labelNames = ['consumer'];
  const read = async () => {
    const names = consumers.map(({ name }) => name);
    const { rows } = await pool.query<ConsumerRow>(CONSUMERS, [names]);
    const known = consumers.flatMap((consumer) => {
      const row = rows.find(({ name }) => name === consumer.name);
      return row ? [{ ...row, consumer, at: row.position === null ? null : BigInt(row.position) }] : [];
    });
    const beyond = await beyondTheLog(pool, store, names);
    const places = known.map(({ at, name, consumer: { categories } }) => ({
      at,
      categories,
      isBeyond: beyond.has(name),
    }));
    const missed = await missedBy(store, places);
    const lags = await Promise.all(
      known.map(async ({ name }, index) => {
        const { events, oldest } = missed[index]!;
        const seconds = oldest ? (await ageOf(oldest, store)) / 1_000 : 0;
        return { labels: { consumer: name }, events, seconds };
      }),
    );
    const gauge = (value: (row: (typeof known)[number]) => number): Sample[] =>
      known.map((row) => ({ labels: { consumer: row.name }, value: value(row) }));
    return {
      consumer_lag_events: lags.map(({ labels, events }) => ({ labels, value: events })),
      consumer_lag_seconds: lags.map(({ labels, seconds }) => ({ labels, value: seconds })),
      consumer_halted: gauge(({ halted }) => Number(halted)),
      consumer_beyond_log: gauge(({ name }) => Number(beyond.has(name))),
      consumer_parked_streams: gauge(({ parked }) => parked),
    };
  };
  scrapedGauges(
    registry,
    'consumers',
    {
      consumer_lag_events: { help: `Events not handled yet, up to ${LOOK_AHEAD}`, labelNames },
      consumer_lag_seconds: { help: 'Age of the oldest event not handled yet', labelNames },
      consumer_halted: { help: '1: halted at an event that it cannot handle', labelNames },
      consumer_beyond_log: {
        help: '1: the checkpoint is beyond the end of the log, or of another log',
        labelNames,
      },
      consumer_parked_streams: {
        help: 'Streams that wait because an event cannot be handled',
        labelNames,
      },
    },
    read,
  );
};

interface Place {
  /** The checkpoint; `null`: at the beginning of the log. */
  readonly at: bigint | null;
  readonly categories: readonly string[];
  /** The checkpoint is not of this log: what it misses is unknown. */
  readonly isBeyond: boolean;
}

interface Missed {
  events: number;
  oldest: StoredEvent | null;
  /** Looked at up to here. */
  upTo: bigint | null;
  isFound: boolean;
}

/**
 * What consumers have not handled. One read after the slowest serves all that are near it. One that is far ahead, as while
 * the slowest is halted or rebuilt, gets another read: it may have stopped, too.
 */
const missedBy = async (store: EventStore, places: readonly Place[]): Promise<readonly Missed[]> => {
  const missed = places.map(({ at, isBeyond }): Missed => ({
    events: 0,
    oldest: null,
    upTo: at,
    isFound: isBeyond,
  }));
  for (let look = 0; look < LOOKS; look += 1) {
    const open = missed.filter(({ isFound }) => !isFound);
    if (open.length === 0) break;
    const from = open.reduce((least, { upTo }) => (isBefore(upTo, least) ? upTo : least), open[0]!.upTo);
    const ahead = await collect(store.readAll({ after: from, limit: LOOK_AHEAD }));
    const end = ahead.length < LOOK_AHEAD ? null : ahead.at(-1)!.position;
    for (const [index, { categories }] of places.entries()) {
      const one = missed[index]!;
      if (one.isFound || (end !== null && one.upTo !== null && one.upTo >= end)) continue;
      const { upTo } = one;
      const own = ahead.filter(
        ({ stream, position }) =>
          (upTo === null || position > upTo) && categories.includes(categoryOf(stream)),
      );
      one.events = own.length;
      one.oldest = own[0] ?? null;
      one.upTo = end;
      one.isFound = end === null || own.length > 0;
    }
  }
  return missed;
};

const isBefore = (one: bigint | null, other: bigint | null): boolean =>
  other !== null && (one === null || one < other);
