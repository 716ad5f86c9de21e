import { setTimeout as delay } from 'node:timers/promises';
import { runMigrations } from 'graphile-worker';
import { ratio, told } from '../report.js';
import { eventBody } from './deliveries.js';
import { arrivals, sendingRate, start, type Setting } from './sending.js';

/** Where the peer has its tables. */
export const PEER_SCHEMA = 'peer_jobs';
const ROUNDS = 2;

/** What a task of the peer gets. */
export interface PeerDelivery {
  readonly deliveryId: string;
  readonly endpointId: string;
  readonly eventId: string;
  /** RFC 3339. */
  readonly createdAt: string;
}

/** Adds events as `addDeliveries` does, and a task for each. */
const addTasks = ({ pool, endpoints }: Setting, count: number): Promise<unknown> =>
  pool.query(
    `with added as (
       select 'evt_' || gen_random_uuid() as event_id, gen_random_uuid() as reading_id, place, now() as at
       from generate_series(1, $1::integer) place
     ), stored as (
       insert into webhooks.public_event (event_id, workspace_id, reading_id, type, sequence, body, occurred_at)
       select event_id, 'ws_bench', reading_id, 'reading.completed', 1,
              replace(replace(replace($2, '<event>', event_id), '<reading>', reading_id::text), '<at>',
                      to_char(at at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')), at
       from added
     )
     select count(*) from ${PEER_SCHEMA}.add_jobs((
       select array_agg(json_populate_record(null::${PEER_SCHEMA}.job_spec, json_build_object(
                'identifier', 'deliver', 'payload', json_build_object(
                  'deliveryId', gen_random_uuid(), 'eventId', event_id, 'createdAt', at,
                  'endpointId', ($3::text[])[1 + place % array_length($3::text[], 1)]))))
       from added))`,
    [count, eventBody('<event>', '<reading>', '<at>'), endpoints],
  );

/** Deliveries per second, from the first arrival to the last. */
const peerRate = async (setting: Setting, count: number): Promise<number> => {
  await arrivals(setting);
  await addTasks(setting, count);
  const worker = await start('peer-worker', setting.databaseUrl);
  for (;;) {
    const { rows } = await setting.pool.query(`select from ${PEER_SCHEMA}.jobs limit 1`);
    if (rows.length === 0) break;
    await delay(100);
  }
  await worker.stop();
  const { deliveries, firstAt, lastAt } = await arrivals(setting);
  if (deliveries !== count) throw new Error(`The peer delivered ${deliveries} of ${count}`);
  return (deliveries * 1_000) / (lastAt - firstAt);
};

/** The same deliveries by our worker and by tasks of graphile-worker, in turns. */
export const measurePeer = async (setting: Setting): Promise<void> => {
  const { pool, settings } = setting;
  await runMigrations({ pgPool: pool, preset: { worker: { schema: PEER_SCHEMA } } });
  // Enough for both programs to be compiled and at their pace most of the time.
  const count = 8_000 * settings.seconds;
  const [ours, theirs]: [number[], number[]] = [[], []];
  for (let round = 0; round < ROUNDS; round += 1) {
    theirs.push(await peerRate(setting, count));
    ours.push((await sendingRate(setting, count)).rate);
  }
  const [best, bestOfPeer] = [Math.max(...ours), Math.max(...theirs)];
  settings.add(
    ratio('deliveries; floor: tasks of graphile-worker that sign, post and record', best, bestOfPeer, 3),
  );
  settings.add(told('the same by graphile-worker', bestOfPeer, '/s'));
  await pool.query(`drop schema ${PEER_SCHEMA} cascade; truncate webhooks.settled_delivery`);
};
