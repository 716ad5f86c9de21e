import type { Pool } from 'pg';
import type { Registry } from 'prom-client';
import type { Consumer } from '#event-sourcing/projections/consumer.js';
import { consumerLag, type ConsumerLag } from '#event-sourcing/projections/consumer-lag.js';
import type { EventStore } from '#event-sourcing/store/event-store.js';
import type { Config } from '../config/settings.js';
import { boundsOf, statuses } from '../crypto/epochs/key-upkeep.js';
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

/**
 * Due jobs that no worker has taken. Excludes jobs with a later time, such as timers. The `run_at` of a turn may be before
 * the job was added.
 */
const DUE = `
  select task_identifier as task, count(*)::integer as due,
         extract(epoch from now() - min(greatest(run_at, created_at)))::float8 as oldest_seconds
  from graphile_worker.jobs
  where run_at <= now() and locked_at is null and attempts < max_attempts
  group by task_identifier`;

/** Metrics of the job queue. Every worker reports the same values: read one, or take the maximum. */
export const measureJobs = (pool: Pool, tasks: readonly string[], registry: Registry): void =>
  scrapedGauges(
    registry,
    'jobs',
    {
      jobs_due: { help: 'Due jobs that no worker has taken', labelNames: ['task'] },
      jobs_oldest_due_seconds: { help: 'How long the oldest due job has waited', labelNames: ['task'] },
    },
    async () => {
      const { rows } = await pool.query<{ task: string; due: number; oldest_seconds: number }>(DUE);
      const of = (field: 'due' | 'oldest_seconds') =>
        tasks.map((task) => ({
          labels: { task },
          value: Math.max(0, rows.find((row) => row.task === task)?.[field] ?? 0),
        }));
      return { jobs_due: of('due'), jobs_oldest_due_seconds: of('oldest_seconds') };
    },
  );

/**
 * Whether keys are destroyed on time, without a scan of the rows that they wrap; every worker reports the same values.
 */
export const measureKeys = (pool: Pool, config: Config, registry: Registry): void =>
  scrapedGauges(
    registry,
    'keys',
    {
      key_epochs: { help: 'Epochs whose key-encryption keys are not destroyed' },
      key_epochs_overdue: { help: 'Epochs whose keys should already be destroyed' },
    },
    async () => {
      const all = await statuses(pool, boundsOf(config), ({ emptiedAt }) => (emptiedAt === null ? 1 : 0));
      const kept = all.filter(({ destroyedAt }) => destroyedAt === null).length;
      const overdue = all.filter(({ state }) => state === 'overdue').length;
      return { key_epochs: [{ value: kept }], key_epochs_overdue: [{ value: overdue }] };
    },
  );

const ROUNDS = 'select kind, extract(epoch from ran_at)::float8 as ran_at from platform.retention_round';

/**
 * When each kind of data that ends after a term was last looked through, the same for every worker. Whether something has
 * outlived its term would be a count of rows at each scrape; that nobody deletes it shows in this.
 */
export const measureRetention = (pool: Pick<Pool, 'query'>, registry: Registry): void =>
  scrapedGauges(
    registry,
    'retention',
    {
      retention_round_timestamp_seconds: {
        help: 'When the last whole round of deletions ended for a kind of data',
        labelNames: ['kind'],
      },
    },
    async () => {
      const { rows } = await pool.query<{ kind: string; ran_at: number }>(ROUNDS);
      return {
        retention_round_timestamp_seconds: rows.map(({ kind, ran_at: value }) => ({
          labels: { kind },
          value,
        })),
      };
    },
  );
