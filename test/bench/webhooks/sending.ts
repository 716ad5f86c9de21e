import { setTimeout as delay } from 'node:timers/promises';
import type pg from 'pg';
import { startChild, type Child } from '../child.js';
import { quantile } from '../quantile.js';
import type { Settings } from '../report.js';
import { cpuMilliseconds } from '../service/process-cpu.js';
import { addDeliveries } from './deliveries.js';
import type { Arrivals } from './receiver.js';

/** Concurrent attempts of a worker, and of the bare loop. */
export const CONCURRENCY = 128;
/** Deliveries per second in the latency measurement, well below the capacity of a worker. */
export const PACE = 200;

export const start = (program: string, ...args: readonly string[]): Promise<Child> =>
  startChild(`webhooks/${program}`, args);

export interface Setting {
  readonly pool: pg.Pool;
  readonly databaseUrl: string;
  readonly ports: { readonly prompt: number; readonly blackHole: number };
  readonly endpoints: readonly string[];
  readonly settings: Settings;
}

export const at = (port: number): string => `http://127.0.0.1:${port}/hook`;
export const arrivals = async ({ ports }: Setting): Promise<Arrivals> =>
  (await (await fetch(`http://127.0.0.1:${ports.prompt}/`)).json()) as Arrivals;

export const untilSettled = async ({ pool, endpoints }: Setting): Promise<void> => {
  for (;;) {
    const { rows } = await pool.query(
      `select from webhooks.delivery where status = 'pending' and endpoint_id = any ($1) limit 1`,
      [endpoints],
    );
    if (rows.length === 0) return;
    await delay(100);
  }
};

export interface Sending {
  /** Deliveries per second from the first arrival to the last. */
  readonly rate: number;
  readonly repeats: number;
  /** CPU time of the workers per delivery, milliseconds. */
  readonly cpuMs: number;
}

/** Sends a backlog with the given number of workers. */
export const sendingRate = async (setting: Setting, count: number, workers = 1): Promise<Sending> => {
  await arrivals(setting);
  await addDeliveries(setting.pool, setting.endpoints, count);
  const started = await Promise.all(
    Array.from({ length: workers }, () => start('sender', 'worker', setting.databaseUrl)),
  );
  const cpu = (): number => started.reduce((sum, { process: { pid } }) => sum + cpuMilliseconds(pid!), 0);
  const before = cpu();
  await untilSettled(setting);
  const cpuMs = (cpu() - before) / count;
  for (const worker of started) await worker.stop();
  const { deliveries, repeats, firstAt, lastAt } = await arrivals(setting);
  return { rate: (deliveries * 1_000) / (lastAt - firstAt), repeats, cpuMs };
};

/** 99th percentile of the time from a delivery's row to its arrival, at an even pace, milliseconds. */
export const pacedLatency = async (setting: Setting, seconds: number, workers = 1): Promise<number> => {
  const started = await Promise.all(
    Array.from({ length: workers }, () => start('sender', 'worker', setting.databaseUrl)),
  );
  await addDeliveries(setting.pool, setting.endpoints, CONCURRENCY);
  await untilSettled(setting);
  await arrivals(setting);
  for (let tick = 0; tick < seconds * 10; tick += 1) {
    const next = performance.now() + 100;
    await addDeliveries(setting.pool, setting.endpoints, PACE / 10);
    await delay(Math.max(0, next - performance.now()));
  }
  await untilSettled(setting);
  await Promise.all(started.map((worker) => worker.stop()));
  return quantile((await arrivals(setting)).latencies, 0.99);
};
