import { createServer } from 'node:http';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { Registry, collectDefaultMetrics, Counter, Gauge, Histogram } from 'prom-client';
import type { Pool } from 'pg';
import { categoryOf } from '#event-sourcing/core/stream-name.js';
import { StoreUnavailable, WrongExpectedRevision } from '#event-sourcing/store/errors.js';
import { intercept, type EventStore, type StoreConnection } from '#event-sourcing/store/event-store.js';
import type { TrustedTime } from '../time/trusted-time.js';

/** The metrics of one process. */
export const METRICS = Symbol('Metrics');

/**
 * How often the event loop's delay is sampled (ms). prom-client's default of 10 makes Node's metrics cost twice as much
 * CPU.
 */
const EVENT_LOOP_PRECISION_MS = 100;

/**
 * @param role `api` or `worker`: a label of every metric
 * @param isServed whether the metrics are served: Node's own metrics are not free
 */
export const createMetrics = (role: string, isServed: boolean): Registry => {
  const registry = new Registry();
  registry.setDefaultLabels({ role });
  if (isServed) {
    collectDefaultMetrics({ register: registry, eventLoopMonitoringPrecision: EVENT_LOOP_PRECISION_MS });
  }
  return registry;
};

export interface MetricsServer {
  readonly port: number;
  close(): Promise<void>;
}

/**
 * Answers `GET /metrics` on its own port, never on the public one; `null` without a port.
 * @throws when the port is taken
 */
export const serveMetrics = async (
  registry: Registry,
  { METRICS_PORT: port, METRICS_HOST: host }: { METRICS_PORT?: number | undefined; METRICS_HOST: string },
): Promise<MetricsServer | null> => {
  if (port === undefined) return null;
  const server = createServer((request, response) => {
    if (request.method !== 'GET' || request.url !== '/metrics') {
      response.writeHead(404).end();
      return;
    }
    registry.metrics().then(
      (text) => response.writeHead(200, { 'content-type': registry.contentType }).end(text),
      () => response.writeHead(500).end(),
    );
  });
  server.listen(port, host);
  await once(server, 'listening');
  return {
    port: (server.address() as AddressInfo).port,
    close: async () => {
      server.close();
      server.closeAllConnections();
      await once(server, 'close');
    },
  };
};

/**
 * A gauge that is read at each scrape.
 * @param read its value; with a label, one for each value of the label
 */
export const readGauge = (
  registry: Registry,
  name: string,
  help: string,
  read: () => number | Readonly<Record<string, number>>,
  label?: string,
): void => {
  new Gauge({
    name,
    help,
    labelNames: label === undefined ? [] : [label],
    registers: [registry],
    collect() {
      const found = read();
      if (typeof found === 'number') this.set(found);
      else for (const [of, value] of Object.entries(found)) this.set({ [label!]: of }, value);
    },
  });
};

/** Metrics of this process's connections to PostgreSQL. */
export const measurePool = (pool: Pool, registry: Registry): void => {
  const states = () => ({ idle: pool.idleCount, busy: pool.totalCount - pool.idleCount });
  const open = 'Open connections of this process, busy or idle';
  readGauge(registry, 'postgres_pool_connections', open, states, 'state');
  const waiting = 'Callers in this process waiting for a connection';
  readGauge(registry, 'postgres_pool_waiting', waiting, () => pool.waitingCount);
  readGauge(registry, 'postgres_pool_size', 'Connections this process may open', () => pool.options.max);
};

/** Metrics of this process's connection to the event store. */
export const measureStoreConnection = (connection: StoreConnection, registry: Registry): void => {
  const calls = 'Open calls of this process to the event store, which accepts 100 per connection';
  readGauge(registry, 'event_store_open_calls', calls, () => connection.openCalls(), 'kind');
  const waiting = 'Reads of this process waiting for a slot';
  readGauge(registry, 'event_store_reads_waiting', waiting, () => connection.waitingReads);
  new Counter({
    name: 'event_store_connection_renewals_total',
    help: 'Reconnections to the event store because calls were stuck on the old connection',
    registers: [registry],
    collect() {
      this.reset();
      this.inc(connection.renewals);
    },
  });
};

/** Metrics of this process's clock, as last compared. */
export const measureClock = (time: TrustedTime, registry: Registry): void => {
  const trusted =
    '1: the clocks of this process, PostgreSQL and the event store agree; 0: they differ too much for work that time causes';
  readGauge(registry, 'clock_trusted', trusted, () => (time.verdict.level === 'refused' ? 0 : 1));
  const apart =
    'Largest certain difference between the clocks of this process, PostgreSQL and the event store';
  readGauge(registry, 'clock_difference_seconds', apart, () => time.verdict.apartMs / 1_000);
};

const SECONDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5];

/** Measures the store's appends: their duration, and how often they are retried. */
export const measuredEventStore = (store: EventStore, registry: Registry): EventStore => {
  const seconds = new Histogram({
    name: 'event_store_append_duration_seconds',
    help: 'Time of one append, successful or not',
    labelNames: ['category', 'outcome'],
    buckets: SECONDS,
    registers: [registry],
  });
  const retries = new Counter({
    name: 'event_store_append_retries_total',
    help: 'Appends decided again after a conflict, or repeated because their outcome was unknown',
    labelNames: ['reason'],
    registers: [registry],
  });
  for (const reason of ['conflict', 'unknown']) retries.inc({ reason }, 0);
  const append: EventStore['append'] = async (stream, expected, events) => {
    const category = categoryOf(stream);
    const stop = seconds.startTimer({ category });
    try {
      const result = await store.append(stream, expected, events);
      stop({ outcome: 'appended' });
      return result;
    } catch (error) {
      const outcome = outcomeOf(error);
      stop({ outcome });
      if (outcome === 'conflict' || outcome === 'unknown') retries.inc({ reason: outcome });
      throw error;
    }
  };
  return intercept(store, { append });
};

const outcomeOf = (error: unknown): 'conflict' | 'unknown' | 'unavailable' | 'error' => {
  if (error instanceof WrongExpectedRevision) return 'conflict';
  if (error instanceof StoreUnavailable) return error.outcomeUnknown ? 'unknown' : 'unavailable';
  return 'error';
};
