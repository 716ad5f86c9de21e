import { setTimeout as delay } from 'node:timers/promises';
import { runMigrations } from 'graphile-worker';
import { highest, inTurns, lowest, quantile } from '../measure.js';
import { ratio, told, type Settings, atMost, perSecond, type Benchmark } from '../report.js';
import {
  ADDED_EVENTS,
  eventBody,
  PEER_SCHEMA,
  addDeliveries,
  addEndpoint,
  addPending,
  CONCURRENCY,
} from './deliveries.js';
import type pg from 'pg';
import { startChild, type Child, cpuMilliseconds, memoryMiB } from '../processes.js';
import type { Arrivals } from './receiver.js';
import { whenLocked } from '#webhooks/processes/retention.js';
import { openPool } from '#platform/postgres/pool.js';
import { startPostgres } from '../../support/start-postgres.js';

const PEER_ROUNDS = 2;

/** Adds events as `addDeliveries` does, and a task for each. */
const addTasks = ({ pool, endpoints }: Setting, count: number): Promise<unknown> =>
  pool.query(
    `${ADDED_EVENTS}
     select count(*) from ${PEER_SCHEMA}.add_jobs((
       select array_agg(json_populate_record(null::${PEER_SCHEMA}.job_spec, json_build_object(
                'identifier', 'deliver', 'payload', json_build_object(
                  'deliveryId', gen_random_uuid(), 'eventId', event_id, 'createdAt', at,
                  'endpointId', ($3::text[])[1 + place % array_length($3::text[], 1)]))))
       from added))`,
    [count, eventBody('<event>', '<reading>', '<at>'), endpoints],
  );

/** The same deliveries by our worker and by tasks of graphile-worker, in turns. */
const measurePeer = async (setting: Setting): Promise<void> => {
  const { pool, settings } = setting;
  await runMigrations({ pgPool: pool, preset: { worker: { schema: PEER_SCHEMA } } });
  // Enough for both programs to be compiled and at their pace most of the time.
  const count = 8_000 * settings.seconds;
  const [bestOfPeer, best] = await highest(
    PEER_ROUNDS,
    async () => (await sendingRate(setting, count, 1, PEER)).rate,
    async () => (await sendingRate(setting, count)).rate,
  );
  settings.add(
    ratio('deliveries; floor: tasks of graphile-worker that sign, post and record', best, bestOfPeer, 3),
  );
  settings.add(told('the same by graphile-worker', bestOfPeer, '/s'));
  await pool.query(`drop schema ${PEER_SCHEMA} cascade; truncate webhooks.settled_delivery`);
};

/** Deliveries per second in the latency measurement, well below the capacity of a worker. */
const PACE = 200;

const start = (program: string, ...args: readonly string[]): Promise<Child> =>
  startChild(`webhooks/${program}`, args);

interface Setting {
  readonly pool: pg.Pool;
  readonly databaseUrl: string;
  readonly ports: { readonly prompt: number; readonly blackHole: number };
  readonly endpoints: readonly string[];
  readonly settings: Settings;
}

const at = (port: number): string => `http://127.0.0.1:${port}/hook`;
const arrivals = async ({ ports }: Setting): Promise<Arrivals> =>
  (await (await fetch(`http://127.0.0.1:${ports.prompt}/`)).json()) as Arrivals;

/** What sends, and how its deliveries are added and looked for. */
interface Program {
  readonly mode: 'worker' | 'peer';
  readonly add: (setting: Setting, count: number) => Promise<unknown>;
  readonly pending: string;
}
const OURS: Program = {
  mode: 'worker',
  add: ({ pool, endpoints }, count) => addDeliveries(pool, endpoints, count),
  pending: `webhooks.delivery where status = 'pending' and endpoint_id = any ($1)`,
};
const PEER: Program = {
  mode: 'peer',
  add: addTasks,
  pending: `${PEER_SCHEMA}.jobs where $1::text[] is not null`,
};

const untilSettled = async ({ pool, endpoints }: Setting, { pending } = OURS): Promise<void> => {
  const isPending = async () =>
    (await pool.query(`select from ${pending} limit 1`, [endpoints])).rowCount! > 0;
  while (await isPending()) await delay(100);
};

const startSenders = ({ databaseUrl }: Setting, count: number, mode = 'worker'): Promise<Child[]> =>
  Promise.all(Array.from({ length: count }, () => start('sender', mode, databaseUrl)));

interface Sending {
  /** Deliveries per second from the first arrival to the last. */
  readonly rate: number;
  readonly repeats: number;
  /** CPU time of the workers per delivery, milliseconds. */
  readonly cpuMs: number;
}

/** Sends a backlog with the given number of workers. */
const sendingRate = async (
  setting: Setting,
  count: number,
  workers = 1,
  program = OURS,
): Promise<Sending> => {
  await arrivals(setting);
  await program.add(setting, count);
  const started = await startSenders(setting, workers, program.mode);
  const cpu = (): number => started.reduce((sum, { process: { pid } }) => sum + cpuMilliseconds(pid!), 0);
  const before = cpu();
  await untilSettled(setting, program);
  const cpuMs = (cpu() - before) / count;
  for (const worker of started) await worker.stop();
  const { deliveries, repeats, firstAt, lastAt } = await arrivals(setting);
  if (deliveries < count) throw new Error(`${deliveries} of ${count} were delivered`);
  return { rate: (deliveries * 1_000) / (lastAt - firstAt), repeats, cpuMs };
};

/** 99th percentile of the time from a delivery's row to its arrival, at an even pace, milliseconds. */
const pacedLatency = async (setting: Setting, seconds: number, workers = 1): Promise<number> => {
  const started = await startSenders(setting, workers);
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

/** Endpoints that never answer, each in a workspace of its own, and deliveries due at each. */
const SILENT = 500;
const DUE_AT_EACH = 4;
/** Runs of each kind. The best counts, since other load on the machine can only slow it. */
const ROUNDS = 3;

const empty = ({ pool }: Setting): Promise<unknown> =>
  pool.query(
    'truncate webhooks.delivery, webhooks.settled_delivery, webhooks.workspace_lease, webhooks.endpoint_health',
  );

/** Alternates runs without and with hundreds of endpoints that never answer, with one worker and with two. */
const measureSilent = async (setting: Setting): Promise<void> => {
  const { pool, databaseUrl, ports, settings } = setting;
  const silent: string[] = [];
  for (let n = 0; n < SILENT; n += 1) silent.push(await addEndpoint(pool, databaseUrl, at(ports.blackHole)));
  for (const workers of [1, 2]) {
    const paced = (dueAtSilent: number) => async (): Promise<number> => {
      await empty(setting);
      if (dueAtSilent > 0) await addDeliveries(pool, silent, dueAtSilent);
      return pacedLatency(setting, settings.seconds, workers);
    };
    const [p99, besideP99] = await lowest(ROUNDS, paced(0), paced(SILENT * DUE_AT_EACH));
    const who = workers === 1 ? 'one worker' : 'two workers';
    settings.add(told(`due delivery to arrival at ${PACE}/s, ${who}, p99`, p99, 'ms'));
    settings.add(told(`the same beside ${SILENT} endpoints that never answer, p99`, besideP99, 'ms'));
    settings.add(atMost(`p99 beside the ${SILENT}, ${who}; floor: without them`, besideP99 / p99, '×', 3));
  }
  await empty(setting);
  await pool.query('delete from webhooks.endpoint where endpoint_id = any ($1)', [silent]);
};

/** Settled deliveries of a long history (`--history`), and of the partition that is dropped. */
const LONG = 1_000_000;
const DROPPED = 1_000_000;
/** Rows inserted by one statement. */
const AT_ONCE = 250_000;
const WEEKS = 12;
const BACKLOG = 20_000;
const NEVER = new AbortController().signal;

/** Inserts settled deliveries, evenly over the weeks from one to another, counted back from now. */
const fill = async ({ pool, endpoints }: Setting, count: number, from: number, to: number): Promise<void> => {
  for (let done = 0; done < count; done += AT_ONCE)
    await pool.query(
      `insert into webhooks.settled_delivery (delivery_id, endpoint_id, event_id, status, attempts, test, redelivery,
                                              created_at, settled_at, started_at, duration_ms, status_code)
       select gen_random_uuid(), ($1::text[])[1 + n % array_length($1::text[], 1)], 'evt_' || gen_random_uuid(),
              'succeeded', 1, false, false, at, at, at, 5, 204
       from (select n, date_trunc('week', now(), 'UTC') - ($2 + random() * ($3::float8 - $2::float8)) * interval '7 days' as at
             from generate_series(1, $4::integer) n) made`,
      [endpoints, from, to, Math.min(AT_ONCE, count - done)],
    );
};

/** The best of some runs, since other load on the machine can only slow them. */
const best = async (setting: Setting, seconds: number): Promise<{ p99: number; rate: number }> => {
  const [latencies, rates] = await inTurns<[number, number]>(
    ROUNDS,
    () => pacedLatency(setting, seconds),
    async () => (await sendingRate(setting, BACKLOG)).rate,
  );
  return { p99: Math.min(...latencies), rate: Math.max(...rates) };
};

/** The rate and the latency beside a long history, and what dropping a partition of it does to sending. */
const measureHistory = async (setting: Setting): Promise<void> => {
  const { pool, settings } = setting;
  const { seconds, add, say, history: count = LONG } = settings;
  const empty = await best(setting, seconds);
  say(`  Filling: ${count.toLocaleString('en-US')} settled deliveries…`);
  await pool.query(`select webhooks.add_partitions(now() - interval '13 weeks', now())`);
  await fill(setting, count, 0, WEEKS);
  await fill(setting, Math.min(DROPPED, count), WEEKS, WEEKS + 1);
  await pool.query('vacuum analyze webhooks.settled_delivery');
  const name = `${count.toLocaleString('en-US')} settled`;
  const long = await best(setting, seconds);
  add(ratio(`deliveries, ${name}; floor: none`, long.rate, empty.rate, 0.9));
  add(atMost(`p99 at ${PACE}/s, ${name}; floor: none`, long.p99 / empty.p99, '×', 1.1));
  await measureDrop(setting);
  await pool.query('truncate webhooks.settled_delivery');
};

const measureDrop = async (setting: Setting): Promise<void> => {
  const { pool, endpoints, settings } = setting;
  const worker = await start('sender', 'worker', setting.databaseUrl);
  await addDeliveries(pool, endpoints, 100);
  await untilSettled(setting);
  await arrivals(setting);
  let isDropped = false;
  const began = performance.now();
  const dropping = whenLocked(NEVER, () =>
    pool.query(
      `select webhooks.drop_partition(date_trunc('week', now(), 'UTC') - interval '${WEEKS} weeks')`,
    ),
  ).finally(() => (isDropped = true));
  // Deliveries go on until a second after it.
  for (let after = 0; after < 20; after += Number(isDropped)) {
    await addDeliveries(pool, endpoints, PACE / 20);
    await delay(50);
  }
  await dropping;
  const took = (performance.now() - began - 1_000) / 1_000;
  await untilSettled(setting);
  await worker.stop();
  const { latencies } = await arrivals(setting);
  const dropped = `dropping a partition of ${Math.min(DROPPED, settings.history ?? LONG).toLocaleString('en-US')}`;
  settings.add(atMost(dropped, Math.max(0, took), 's', 5));
  settings.add(atMost('longest wait of a delivery meanwhile', Math.max(...latencies), 'ms', 200));
  settings.add(told('deliveries meanwhile', latencies.length, ''));
};

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
  const count = Math.round((await bareLoop(setting, 1)).perSecond * 0.5 * seconds);
  const [bare, sent] = await inTurns<[Bare, Sending]>(
    2,
    () => bareLoop(setting, seconds),
    () => sendingRate(setting, count),
  );
  const alone = sent.map(({ rate }) => rate);
  const floor = Math.max(...bare.map(({ perSecond: posts }) => posts));
  add(ratio('deliveries, one worker; floor: bare keep-alive POSTs', Math.max(...alone), floor, 0.4));
  add(told('CPU of the worker, each delivery', Math.min(...sent.map(({ cpuMs }) => cpuMs)), 'ms', 3));
  add(told('CPU of the bare loop, each POST', Math.min(...bare.map(({ cpuMs }) => cpuMs)), 'ms', 3));
  const two = await sendingRate(setting, count, 2);
  add(told(`deliveries, two workers (one: ${perSecond(Math.max(...alone))})`, two.rate, '/s'));
  add(atMost('deliveries, two workers: repeats', two.repeats, '', 0));
};

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
  const memory = memoryMiB(pid);
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
