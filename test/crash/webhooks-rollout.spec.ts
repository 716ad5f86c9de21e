import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { spawn, type ChildProcess } from 'node:child_process';
import { createHmac } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';
import { loadConfig } from '@app/platform/config/load-config.js';
import { KeyRing } from '@app/platform/crypto/key-ring.js';
import { projectPath } from '@app/platform/project-path.js';
import { SecretVault } from '@app/webhooks/application/secrets/secret-vault.js';
import { moveAll } from '@app/webhooks/processes/settled/move-settled.js';
import { markQueuesReady } from '@app/webhooks/read-models/delivery/delivery-sql.js';
import { ALL_DELIVERIES } from '@app/webhooks/read-models/delivery/settled-sql.js';
import { settings } from '../../apps/service/src/settings.js';
import { addEndpoint, settingsFor } from '../bench/webhooks/deliveries.js';
import { freshDatabase } from '../support/fresh-database.js';
import { until } from '../support/integrator.js';
import { Random } from '../support/random.js';
import { again, isSoak, rounds, seedOr } from '../support/rounds.js';
import type { StartedPostgres } from '../support/start-postgres.js';
import { buildOf, previousVersion } from './support/previous-build.js';

const KILLS = rounds(6, 200);
const SEED = seedOr(20261124);
/** In the long form its workers send, too. */
const EARLIER = isSoak ? previousVersion() : null;
const ENDPOINTS = 4;
/** Events of each reading. */
const SEQUENCE = 3;
const READINGS_A_KILL = 2;
/** Settled before migration 0016, and still in the queue. */
const OLD = 3_000;
const REFUSES = 0.1;
const CATCH_UP_MS = 300_000;
const IMPATIENT = {
  WEBHOOK_LEASE_MS: '4000',
  WEBHOOK_ATTEMPT_TIMEOUT_MS: '2000',
  WEBHOOK_RETRY_SCHEDULE_MS: '0,300,300,300,300,300,300,300,300,300,300',
};

/** The seed makes a failure repeatable. */
const random = new Random(SEED);
let postgres: StartedPostgres;
/** The folder with the build of the earlier version. */
let previous = '';
let pool: pg.Pool;
let server: Server;
const endpoints: string[] = [];
/** By path. */
const secrets = new Map<string, string>();
const bodies = new Map<string, string>();
const lastOf = new Map<string, number>();
const faults: string[] = [];
let workers: { readonly version: 'previous' | 'present'; process: ChildProcess }[] = [];

/** Records a delivery, and what is wrong with it. @returns its status */
const take = ({ url = '', headers }: IncomingMessage, body: string): number => {
  const id = String(headers['x-service-delivery-id']);
  const { readingId, sequence } = JSON.parse(body) as { readingId: string; sequence: number };
  const signature = String(headers['x-service-signature']);
  const timestamp = /^t=(\d+)/.exec(signature)?.[1];
  const expected = createHmac('sha256', secrets.get(url)!).update(`${timestamp}.`).update(body).digest('hex');
  if (!signature.includes(`v1=${expected}`)) faults.push(`signature of ${id}`);
  if (bodies.has(id) && bodies.get(id) !== body) faults.push(`bytes of ${id}`);
  const isNew = !bodies.has(id);
  const before = lastOf.get(`${url} ${readingId}`) ?? 0;
  if (isNew && sequence !== before + 1) faults.push(`${id}: ${sequence} after ${before}`);
  if (isNew && random.chance(REFUSES)) return 500;
  if (isNew) lastOf.set(`${url} ${readingId}`, sequence);
  bodies.set(id, body);
  return 204;
};

beforeAll(async () => {
  if (EARLIER !== null) previous = await buildOf(EARLIER);
  postgres = await freshDatabase();
  pool = new pg.Pool({ connectionString: postgres.databaseUrl, max: 4 });
  server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const status = take(request, Buffer.concat(chunks).toString('utf8'));
      setTimeout(() => response.writeHead(status).end(), random.chance(0.2) ? random.between(1, 200) : 0);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const { ENCRYPTION_KEYS } = loadConfig(settings, settingsFor(postgres.databaseUrl));
  const vault = new SecretVault(pool, new KeyRing(ENCRYPTION_KEYS));
  for (let n = 0; n < ENDPOINTS; n += 1) {
    const id = await addEndpoint(pool, postgres.databaseUrl, `http://127.0.0.1:${port}/${n}`);
    const { rows } = await pool.query<{ secrets: readonly { ref: string }[] }>(
      'select secrets from webhooks.endpoint where endpoint_id = $1',
      [id],
    );
    const [secret] = await vault.open(
      id,
      rows[0]!.secrets.map(({ ref }) => ref),
    );
    secrets.set(`/${n}`, secret!);
    endpoints.push(id);
  }
}, 600_000);
afterAll(async () => {
  for (const worker of workers) worker.process.kill('SIGKILL');
  await pool?.end();
  server?.close();
  await postgres?.stop();
});

/** Adds readings with all their events, for every endpoint. @returns how many deliveries */
const addReadings = async (count: number): Promise<number> => {
  const { rows } = await pool.query<{ added: number }>(
    `with event as (
       select reading_id, sequence, 'evt_' || gen_random_uuid() as event_id
       from (select gen_random_uuid() as reading_id from generate_series(1, $1::integer)) reading
       cross join generate_series(1, ${SEQUENCE}) sequence
     ), stored as (
       insert into webhooks.public_event (event_id, workspace_id, reading_id, type, sequence, body, occurred_at)
       select event_id, 'ws_bench', reading_id, 'reading.completed', sequence,
              json_build_object('id', event_id, 'readingId', reading_id, 'sequence', sequence)::text, now()
       from event
     ), inserted as (
       insert into webhooks.delivery (delivery_id, endpoint_id, workspace_id, event_id, reading_id, sequence, status, due_at,
                                      created_at)
       select gen_random_uuid(), endpoint_id, endpoint.workspace_id, event_id, reading_id, sequence, 'pending', now(), now()
       from event join webhooks.endpoint on endpoint_id = any ($2::text[])
       returning workspace_id, status, due_at
     ), ready as (${markQueuesReady('inserted')})
     select count(*)::integer as added from inserted`,
    [count, endpoints],
  );
  await pool.query(`select pg_notify('webhooks_due', '')`);
  return rows[0]!.added;
};

/** As the version before migration 0016 left them. */
const addOld = (): Promise<unknown> =>
  pool.query(
    `with old as (
       insert into webhooks.delivery (delivery_id, endpoint_id, workspace_id, event_id, reading_id, sequence, status,
                                      attempts, due_at, created_at, settled_at)
       select gen_random_uuid(), $1, 'ws_bench', 'evt_old_' || n, gen_random_uuid(), 1, 'succeeded', 1, now(), now(), now()
       from generate_series(1, ${OLD}) n returning delivery_id)
     insert into webhooks.attempt (delivery_id, number, started_at, duration_ms, status_code, endpoint_id)
     select delivery_id, 1, now(), 7, 204, $1 from old`,
    [endpoints[0]],
  );

const startWorker = async (version: 'previous' | 'present'): Promise<ChildProcess> => {
  const dist = version === 'present' ? projectPath('dist') : join(previous, 'dist');
  const worker = spawn(
    process.execPath,
    [join(dist, 'test/bench/webhooks/sender.js'), 'worker', postgres.databaseUrl],
    { stdio: ['pipe', 'pipe', 'ignore'], env: { ...process.env, ...IMPATIENT }, cwd: join(dist, '..') },
  );
  await once(createInterface(worker.stdout), 'line');
  return worker;
};

describe(`kill -9 of workers while the history moves, ${KILLS} times (${again('webhooks-rollout', KILLS, SEED)})`, () => {
  it('loses no delivery, and keeps the order, the bytes and the signatures', async () => {
    await addOld();
    const versions = EARLIER === null ? (['present'] as const) : (['previous', 'present'] as const);
    workers = await Promise.all(
      [...versions, ...versions].map(async (version) => ({ version, process: await startWorker(version) })),
    );
    const moving = new AbortController();
    let moved = 0;
    const mover = (async () => {
      for (; !moving.signal.aborted; await delay(100)) moved += await moveAll(pool, moving.signal, 50);
    })();
    let made = 0;
    for (let kill = 0; kill < KILLS; kill += 1) {
      made += await addReadings(READINGS_A_KILL);
      await delay(random.between(100, 500));
      const worker = workers[Math.floor(random.next() * workers.length)]!;
      worker.process.kill('SIGKILL');
      await once(worker.process, 'exit');
      worker.process = await startWorker(worker.version);
    }
    const pending = async (): Promise<number> =>
      (await pool.query(`select from webhooks.delivery where status = 'pending'`)).rowCount!;
    await until(
      async () => (await pending()) === 0,
      () => 'deliveries are pending',
      CATCH_UP_MS,
    );
    moving.abort();
    await mover;
    moved += await moveAll(pool, new AbortController().signal, 0);

    expect(faults).toEqual([]);
    expect(bodies.size).toBe(made);
    const { rows } = await pool.query<{ status: string; rows: number; ids: number }>(
      `select status, count(*)::integer as rows, count(distinct delivery_id)::integer as ids from ${ALL_DELIVERIES} group by 1`,
    );
    expect(rows).toEqual([{ status: 'succeeded', rows: made + OLD, ids: made + OLD }]);
    expect(moved).toBeGreaterThanOrEqual(OLD);
    for (const table of ['webhooks.delivery', 'webhooks.attempt'])
      expect((await pool.query(`select from ${table}`)).rowCount).toBe(0);
  }, 3_600_000);
});
