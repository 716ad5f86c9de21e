import type { Pool } from 'pg';
import type { Registry } from 'prom-client';
import type { Consumer } from '#event-sourcing/projections/consumer.js';
import { consumerLag, type ConsumerLag } from '#event-sourcing/projections/consumer-lag.js';
import type { EventStore } from '#event-sourcing/store/event-store.js';
import { scrapedGauges } from '../telemetry/scraped-gauges.js';

/** Events to read behind a consumer, at most: a lag of this value means at least this many. */
const LOOK_AHEAD = 2_000;

/** How far consumers are behind the log. Every worker reports the same values: read one, or take the maximum. */
export const measureConsumers = (
  { pool, store }: { pool: Pool; store: EventStore },
  consumers: readonly Pick<Consumer, 'name'>[],
  registry: Registry,
): void => {
  const labelNames = ['consumer'];
  const names = new Set(consumers.map(({ name }) => name));
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
    async () => {
      const lags = await consumerLag(pool, store, { lookAhead: LOOK_AHEAD });
      const known = lags.filter(({ consumer }) => names.has(consumer));
      const each = (value: (lag: ConsumerLag) => number) =>
        known.map((lag) => ({ labels: { consumer: lag.consumer }, value: value(lag) }));
      return {
        consumer_lag_events: each(({ events }) => events),
        consumer_lag_seconds: each(({ seconds }) => seconds),
        consumer_halted: each(({ status }) => Number(status === 'halted')),
        consumer_beyond_log: each(({ status }) => Number(status === 'beyond_the_log')),
        consumer_parked_streams: each(({ parkedStreams }) => parkedStreams),
      };
    },
  );
};
