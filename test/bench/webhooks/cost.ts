/**
 * What deliveries cost, for comparing two builds in turns: cost.js DELIVERIES ROUNDS
 * Prints a line of JSON for each round and kind of answer: CPU time of the worker and of PostgreSQL (microseconds), and bytes
 * of write-ahead log, for each delivery, from its row in the queue to its outcome. Public events are inserted before.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createInterface } from 'node:readline';
import { setTimeout as delay } from 'node:timers/promises';
import type pg from 'pg';
import { loadConfig } from '#platform/config/load-config.js';
import { KeyRing } from '#platform/crypto/key-ring.js';
import { SubjectKeys } from '#platform/crypto/subject-keys.js';
import { openPool } from '#platform/postgres/pool.js';
import { projectPath } from '#platform/project-path.js';
import { SERVICE_FLAGS } from '../../../apps/embedded/src/node-service.js';
import { startPostgres } from '../../support/start-postgres.js';
import { cpuMilliseconds } from '../service/process-cpu.js';
import { notifyDue } from '#webhooks/read-models/delivery-sql.js';
import { settings } from '../../../apps/service/src/settings.js';
import { addEndpoint, eventBody, settingsFor } from './deliveries.js';

/** Few endpoints for the rate; many, because one that has failed ten times in a row gets only probes. */
const [FEW, MANY] = [40, 2_000];
const FAILURES_OF_EACH = 9;
/** What a receiver with an error says, which is sealed with the key of the reading. */
const ANSWER = 'an error page '.repeat(40);

const [deliveries = 20_000, rounds = 3] = process.argv.slice(2).map(Number);

/** Requests answered so far, by all receivers. */
let answered = 0;

const listen = async (status: number, answer = ''): Promise<string> => {
  const server = createServer((request, response) => {
    request.resume().once('end', () => {
      answered += 1;
      response.writeHead(status).end(answer);
    });
  });
  server.keepAliveTimeout = 60_000;
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`;
};

interface Used {
  readonly cpuMs: number;
  readonly wal: number;
}

/** CPU time and write-ahead log of the whole server so far. */
const usedBy = async (pool: pg.Pool): Promise<Used> => {
  const { rows } = await pool.query<{ pid: number; wal: string }>(
    `select pg_backend_pid() as pid, (pg_current_wal_insert_lsn() - '0/0')::text as wal`,
  );
  const stat = readFileSync(`/proc/${rows[0]!.pid}/stat`, 'utf8');
  const postmaster = Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1]);
  return { cpuMs: cpuMilliseconds(postmaster), wal: Number(rows[0]!.wal) };
};

const ENQUEUED_AT_ONCE = 100;
const ENQUEUE = `
  with inserted as (
    insert into webhooks.delivery (delivery_id, endpoint_id, workspace_id, event_id, reading_id, sequence, status, due_at,
                                   created_at)
    select webhooks.delivery_id(endpoint_id, event_id, now()), endpoint_id, workspace_id, event_id, gen_random_uuid(), 1,
           'pending', now(), now()
    from unnest($1::text[], $2::text[]) event (event_id, endpoint_id) join webhooks.endpoint using (endpoint_id)
    returning workspace_id)
  ${notifyDue('inserted')}`;

const measure = async (
  pool: pg.Pool,
  databaseUrl: string,
  endpoints: readonly string[],
  count: number,
  withKeys = false,
): Promise<object> => {
  await pool.query('truncate webhooks.endpoint_health');
  await pool.query('truncate webhooks.public_event');
  const { rows: events } = await pool.query<{ event_id: string; reading_id: string }>(
    `insert into webhooks.public_event (event_id, workspace_id, reading_id, type, sequence, body, occurred_at)
     select 'evt_' || gen_random_uuid(), 'ws_bench', gen_random_uuid(), 'reading.completed', 1, $2, now()
     from generate_series(1, $1::integer) returning event_id, reading_id`,
    [count, eventBody('evt_bench', '00000000-0000-4000-8000-000000000000', new Date().toISOString())],
  );
  if (withKeys) {
    const keys = new SubjectKeys(
      pool,
      new KeyRing(loadConfig(settings, settingsFor(databaseUrl)).ENCRYPTION_KEYS),
    );
    await Promise.all(events.map(({ reading_id: readingId }) => keys.create(readingId, 'ws_bench')));
  }
  await pool.query('vacuum analyze webhooks.public_event');
  await pool.query('checkpoint');
  const answeredBefore = answered;
  const before = await usedBy(pool);
  // In statements of the size of the fan-out's.
  for (let from = 0; from < count; from += ENQUEUED_AT_ONCE) {
    const page = events.slice(from, from + ENQUEUED_AT_ONCE).map(({ event_id: eventId }) => eventId);
    const targets = page.map((_, index) => endpoints[(from + index) % endpoints.length]);
    await pool.query({ name: 'enqueue', text: ENQUEUE, values: [page, targets] });
  }
  const path = projectPath('dist/test/bench/webhooks/sender.js');
  const worker = spawn(process.execPath, [...SERVICE_FLAGS, path, 'worker', databaseUrl], {
    stdio: ['pipe', 'pipe', 'inherit'],
    env: { ...process.env, WEBHOOK_RETRY_SCHEDULE_MS: '0,3600000' },
  });
  await once(createInterface(worker.stdout), 'line');
  const loaded = cpuMilliseconds(worker.pid!);
  const startedAt = performance.now();
  // A look at the queue reads past everything that has left it. Made all the time, it would cost with the deliveries.
  while (answered - answeredBefore < count) await delay(20);
  for (;;) {
    const { rowCount } = await pool.query(
      `select from webhooks.delivery where status = 'pending' and attempts = 0 limit 1`,
    );
    if (rowCount === 0) break;
    await delay(100);
  }
  const seconds = (performance.now() - startedAt) / 1_000;
  const workerMs = cpuMilliseconds(worker.pid!) - loaded;
  const after = await usedBy(pool);
  worker.kill('SIGTERM');
  await once(worker, 'exit');
  const each = (total: number): number => Math.round((total / count) * 10) / 10;
  return {
    workerUs: each(workerMs * 1_000),
    postgresUs: each((after.cpuMs - before.cpuMs) * 1_000),
    walBytes: each(after.wal - before.wal),
    perSecond: Math.round(count / seconds),
  };
};

const postgres = await startPostgres();
const { databaseUrl } = postgres;
const pool = openPool(databaseUrl, { size: 2, applicationName: 'bench', onError: () => undefined });
const urls = { 204: await listen(204), 500: await listen(500), answer: await listen(500, ANSWER) };
const endpointsAt = async (url: string, count: number): Promise<readonly string[]> => {
  const endpoints: string[] = [];
  for (let n = 0; n < count; n += 1) endpoints.push(await addEndpoint(pool, databaseUrl, url));
  return endpoints;
};
const kinds = [
  { kind: 'success', endpoints: await endpointsAt(urls[204], FEW), count: deliveries },
  {
    kind: 'success, many endpoints',
    endpoints: await endpointsAt(urls[204], MANY),
    count: MANY * FAILURES_OF_EACH,
  },
  {
    kind: 'failure, many endpoints',
    endpoints: await endpointsAt(urls[500], MANY),
    count: MANY * FAILURES_OF_EACH,
  },
  {
    kind: 'failure with an answer, many endpoints',
    endpoints: await endpointsAt(urls.answer, MANY),
    count: MANY * FAILURES_OF_EACH,
    withKeys: true,
  },
];
for (let round = 1; round <= rounds; round += 1)
  for (const { kind, endpoints, count, withKeys } of kinds) {
    const cost = await measure(pool, databaseUrl, endpoints, count, withKeys);
    process.stdout.write(`${JSON.stringify({ round, kind, count, ...cost })}\n`);
    await pool.query(`delete from webhooks.delivery where status = 'pending'`);
  }
await pool.end();
await postgres.stop();
process.exit(0);
