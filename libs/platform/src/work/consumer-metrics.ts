import type { Pool } from 'pg';
import type { Registry } from 'prom-client';
import type { StoredEvent } from '@app/event-sourcing/core/event.js';
import { categoryOf } from '@app/event-sourcing/core/stream-name.js';
import type { Consumer } from '@app/event-sourcing/projections/consumer.js';
import { beyondTheLog } from '@app/event-sourcing/projections/end-of-log.js';
import { collect } from '@app/event-sourcing/store/collect.js';
import type { EventStore } from '@app/event-sourcing/store/event-store.js';
import { ageOf } from '@app/event-sourcing/store/record-age.js';
import { scrapedGauges, type Sample } from '../telemetry/scraped-gauges.js';

/** Maximum number of events to read behind the slowest consumer: a lag of this value means at least this many. */
const LOOK_AHEAD = 2_000;

interface ConsumerRow {
  readonly name: string;
  readonly position: string | null;
  readonly halted: boolean;
  readonly parked: number;
}

const CONSUMERS = `
  select name, position::text, status = 'halted' as halted,
         (select count(distinct stream)::integer from event_sourcing.parked_event where parked_event.consumer = consumer.name) as parked
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
    const isBeyond = await beyondTheLog(
      store,
      known.map(({ at }) => at),
    );
    const positions = known.filter(({ at }) => !isBeyond(at)).map(({ at }) => at ?? -1n);
    const from = positions.reduce((least, one) => (one < least ? one : least), positions[0] ?? -1n);
    const ahead = positions.length > 0 ? await eventsAfter(store, from < 0n ? null : from) : [];
    const lags = known.map(({ name, at, consumer }) => {
      const missed = ahead.filter(
        ({ stream, position }) =>
          (at === null || position > at) && consumer.categories.includes(categoryOf(stream)),
      );
      const seconds = missed[0] ? ageOf(missed[0], store) / 1_000 : 0;
      return { labels: { consumer: name }, events: missed.length, seconds };
    });
    const gauge = (value: (row: (typeof known)[number]) => number): Sample[] =>
      known.map((row) => ({ labels: { consumer: row.name }, value: value(row) }));
    return {
      consumer_lag_events: lags.map(({ labels, events }) => ({ labels, value: events })),
      consumer_lag_seconds: lags.map(({ labels, seconds }) => ({ labels, value: seconds })),
      consumer_halted: gauge(({ halted }) => Number(halted)),
      consumer_beyond_log: gauge(({ at }) => Number(isBeyond(at))),
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
      consumer_beyond_log: { help: '1: the checkpoint is beyond the end of the log', labelNames },
      consumer_parked_streams: {
        help: 'Streams that wait because an event cannot be handled',
        labelNames,
      },
    },
    read,
  );
};

const eventsAfter = (store: EventStore, after: bigint | null): Promise<StoredEvent[]> =>
  collect(store.readAll({ after, limit: LOOK_AHEAD }));
