import { readFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { openPool } from '#platform/postgres/pool.js';
import { startPostgres } from '../../support/start-postgres.js';
import { quantile } from '../quantile.js';
import { atMost, perSecond, ratio, told, type Benchmark } from '../report.js';
import { cpuMilliseconds } from '../service/process-cpu.js';
import { addDeliveries, addEndpoint, addPending } from './deliveries.js';
import { measureHistory } from './history.js';
import { measurePeer } from './peer.js';
import { measureSilent } from './silent.js';
import { CONCURRENCY, arrivals, at, sendingRate, start, untilSettled, type Setting } from './sending.js';

const ENDPOINTS = 40;
/** Endpoints and deliveries of the large table. */
const LARGE_ENDPOINTS = 1_000;
const LARGE = 1_000_000;
const PICK_UPS = 40;

interface Bare {
  readonly perSecond: number;
  readonly cpuMs: number;
}

const bareLoop = async ({ ports }: Setting, seconds: number): Promise<Bare> => {
  const bare = await start('sender', 'bare', at(ports.prompt), String(seconds), String(CONCURRENCY));
  return JSON.parse(bare.line) as Bare;
};

const measureRates = async (setting: Setting): Promise<void> => {
  const { seconds, add } = setting.settings;
  const bare = [await bareLoop(setting, seconds)];
  const count = Math.round(bare[0]!.perSecond * 0.5 * seconds);
  const sent = [await sendingRate(setting, count)];
  bare.push(await bareLoop(setting, seconds));
  sent.push(await sendingRate(setting, count));
  const alone = sent.map(({ rate }) => rate);
  const floor = Math.max(...bare.map(({ perSecond: posts }) => posts));
  add(ratio('deliveries, one worker; floor: bare keep-alive POSTs', Math.max(...alone), floor, 0.4));
  add(told('CPU of the worker, each delivery', Math.min(...sent.map(({ cpuMs }) => cpuMs)), 'ms', 3));
  add(told('CPU of the bare loop, each POST', Math.min(...bare.map(({ cpuMs }) => cpuMs)), 'ms', 3));
  const two = await sendingRate(setting, count, 2);
  add(told(`deliveries, two workers (one: ${perSecond(Math.max(...alone))})`, two.rate, '/s'));
  add(atMost('deliveries, two workers: repeats', two.repeats, '', 0));
};

const residentMib = (pid: number): number =>
  Number(/^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? Number.NaN) / 1_024;

/** Measures a worker with little to do: the time until an event arrives, the CPU time of idling, and its memory. */
const measurePickUp = async (setting: Setting) => {
  const worker = await start('sender', 'worker', setting.databaseUrl);
  const { pid } = JSON.parse(worker.line) as { pid: number };
  const times: number[] = [];
  for (let n = 0; n < PICK_UPS; n += 1) {
    await arrivals(setting);
    await addDeliveries(setting.pool, setting.endpoints.slice(0, 1), 1);
    await untilSettled(setting);
    times.push(...(await arrivals(setting)).latencies);
    await delay(20);
  }
  const before = cpuMilliseconds(pid);
  await delay(3_000);
  const idle = (cpuMilliseconds(pid) - before) / 3;
  const memory = residentMib(pid);
  await worker.stop();
  return { pickUp: quantile(times, 0.5), idle, memory };
};

const measureLargeTable = async (setting: Setting): Promise<void> => {
  const { pool, databaseUrl, ports, settings } = setting;
  const { count = LARGE, add, say } = settings;
  const empty = await measurePickUp(setting);
  say(`  Filling: ${count.toLocaleString('en-US')} pending deliveries…`);
  const endpoints: string[] = [];
  for (let n = 0; n < LARGE_ENDPOINTS; n += 1)
    endpoints.push(await addEndpoint(pool, databaseUrl, at(ports.prompt)));
  await addPending(pool, endpoints, count);
  // A tenth is due now, at an endpoint that keeps failing.
  const [failing] = endpoints as [string];
  await pool.query(`insert into webhooks.endpoint_health values ($1, 50, now(), now() + interval '1 hour')`, [
    failing,
  ]);
  await pool.query(
    `update webhooks.delivery
     set endpoint_id = endpoint.endpoint_id, workspace_id = endpoint.workspace_id, due_at = now() - interval '1 hour'
     from webhooks.endpoint
     where endpoint.endpoint_id = $1 and delivery_id in (select delivery_id from webhooks.delivery limit $2)`,
    [failing, Math.round(count / 10)],
  );
  await pool.query('analyze webhooks.delivery');
  const large = await measurePickUp(setting);
  const name = `${count.toLocaleString('en-US')} pending`;
  add(told('due delivery to arrival, empty table, p50', empty.pickUp, 'ms'));
  add(told(`due delivery to arrival, ${name}, p50`, large.pickUp, 'ms'));
  add(atMost(`due delivery to arrival, ${name}; floor: empty table`, large.pickUp / empty.pickUp, '×', 2));
  add(told('CPU of an idle worker, empty table', empty.idle, 'ms/s'));
  add(told(`CPU of an idle worker, ${name}`, large.idle, 'ms/s'));
  add(atMost(`memory of the worker, ${name}; floor: empty table`, large.memory / empty.memory, '×', 1.25));
};

/** Measures the dispatcher, from due rows to receivers. */
export const webhooksBenchmark: Benchmark = {
  name: 'webhooks',
  title: 'Webhooks',
  explanation: `Workers and receivers in separate processes with the flags of the service, PostgreSQL as in the embedded stack,
${ENDPOINTS} endpoints. The floor is the same HTTP client posting the same body in a loop, unsigned and unrecorded,
${CONCURRENCY} at a time like a worker. Tasks of graphile-worker keep no order, limits or turns. In the large table a tenth is due at an endpoint that keeps failing, the rest later.`,
  async run(settings) {
    const postgres = await startPostgres();
    const databaseUrl = postgres.databaseUrl;
    const pool = openPool(databaseUrl, { size: 4, applicationName: 'bench', onError: () => undefined });
    const receiver = await start('receiver');
    try {
      const ports = JSON.parse(receiver.line) as Setting['ports'];
      const endpoints: string[] = [];
      for (let n = 0; n < ENDPOINTS; n += 1)
        endpoints.push(await addEndpoint(pool, databaseUrl, at(ports.prompt)));
      const setting: Setting = { pool, databaseUrl, ports, endpoints, settings };
      await measureRates(setting);
      await measurePeer(setting);
      await measureSilent(setting);
      await measureHistory(setting);
      await measureLargeTable(setting);
    } finally {
      await pool.end();
      await receiver.stop();
      await postgres.stop();
    }
  },
};
