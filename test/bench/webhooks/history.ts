import { setTimeout as delay } from 'node:timers/promises';
import { whenLocked } from '#webhooks/processes/retention.js';
import { atMost, ratio, told } from '../report.js';
import { addDeliveries } from './deliveries.js';
import { PACE, arrivals, pacedLatency, sendingRate, start, untilSettled, type Setting } from './sending.js';

/** Settled deliveries of a long history (`--history`), and of the partition that is dropped. */
const LONG = 1_000_000;
const DROPPED = 1_000_000;
/** Rows inserted by one statement. */
const AT_ONCE = 250_000;
const WEEKS = 12;
const BACKLOG = 20_000;
const ROUNDS = 3;
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
  const [latencies, rates]: [number[], number[]] = [[], []];
  for (let round = 0; round < ROUNDS; round += 1) {
    latencies.push(await pacedLatency(setting, seconds));
    rates.push((await sendingRate(setting, BACKLOG)).rate);
  }
  return { p99: Math.min(...latencies), rate: Math.max(...rates) };
};

/** The rate and the latency beside a long history, and what dropping a partition of it does to sending. */
export const measureHistory = async (setting: Setting): Promise<void> => {
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
