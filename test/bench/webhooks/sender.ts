/**
 * The sender, in a separate process:
 *   worker DATABASE_URL          a dispatcher, as a worker process runs it
 *   peer DATABASE_URL            tasks of graphile-worker
 *   bare URL SECONDS CONCURRENCY the floor: the same HTTP client posting the same body in a loop; prints posts per
 *                                second and the CPU time of each, in milliseconds
 */
import { Agent, request } from 'node:http';
import { run, type Task } from 'graphile-worker';
import { pino } from 'pino';
import { systemClock } from '#event-sourcing/core/clock.js';
import { InMemoryEventStore } from '#event-sourcing/testing/in-memory-event-store.js';
import { loadConfig } from '#platform/config/load-config.js';
import { KeyRing } from '#platform/crypto/key-ring.js';
import { SubjectKeys } from '#platform/crypto/subject-keys.js';
import { openPool } from '#platform/postgres/pool.js';
import { EndpointStreams } from '#webhooks/application/endpoints.js';
import { resolveHost, openSender } from '#webhooks/processes/dispatch/sender.js';
import { AnswerVault, HeaderVault, SecretVault } from '#webhooks/application/vaults.js';
import { signedHeaders } from '#webhooks/domain/signed-headers.js';
import { countAttempts } from '#webhooks/read-models/hourly-stats.js';
import { Dispatcher } from '#webhooks/processes/dispatch/dispatcher.js';
import { settings } from '../../../apps/service/src/settings.js';
import { CONCURRENCY, eventBody, PEER_SCHEMA, type PeerDelivery, settingsFor } from './deliveries.js';

/** Settings of webhooks that a measurement changes. */
const given = Object.fromEntries(Object.entries(process.env).filter(([name]) => name.startsWith('WEBHOOK_')));

const surroundings = (databaseUrl: string) => {
  const config = loadConfig(settings, { ...settingsFor(databaseUrl), ...given });
  const onError = () => undefined;
  const pool = openPool(databaseUrl, { size: config.DATABASE_POOL_SIZE, applicationName: 'bench', onError });
  return { config, pool, vault: new SecretVault(pool, new KeyRing(config.ENCRYPTION_KEYS)) };
};

const work = async (databaseUrl: string): Promise<void> => {
  const { config, pool, vault } = surroundings(databaseUrl);
  const store = new InMemoryEventStore();
  const dispatcher = new Dispatcher({
    pool,
    config,
    clock: systemClock,
    resolve: resolveHost,
    vault,
    answers: new AnswerVault(new SubjectKeys(pool, new KeyRing(config.ENCRYPTION_KEYS))),
    headers: new HeaderVault(pool, new KeyRing(config.ENCRYPTION_KEYS)),
    streams: new EndpointStreams(store, systemClock),
    queryBus: { execute: () => Promise.reject(new Error('no event shows an external id')) },
    log: pino({ level: 'warn' }, process.stderr),
  });
  const stopping = new AbortController();
  process.once('SIGTERM', () => stopping.abort());
  process.stdout.write(`${JSON.stringify({ pid: process.pid })}\n`);
  await dispatcher.run(stopping.signal);
  process.exit(0);
};

const READ = `
  select url, secrets, type, body
  from webhooks.endpoint cross join webhooks.public_event where endpoint_id = $1 and event_id = $2`;

const RECORD = `
  with done as (
    select $1::uuid as delivery_id, $2::text as endpoint_id, $3::text as event_id, $4::timestamptz as created_at,
           $5::timestamptz as started_at, $6::timestamptz as ended_at, $7::integer as duration_ms,
           $8::integer as status_code, $9::text as error
  ), settled as (
    insert into webhooks.settled_delivery (delivery_id, endpoint_id, event_id, status, attempts, test, redelivery,
                                           created_at, settled_at, started_at, duration_ms, status_code, error)
    select delivery_id, endpoint_id, event_id, case when error is null then 'succeeded' else 'exhausted' end, 1, false, false,
           created_at, ended_at, started_at, duration_ms, status_code, error
    from done
  ) ${countAttempts('done')}`;

interface Row {
  readonly url: string;
  readonly secrets: readonly { readonly ref: string }[];
  readonly type: string;
  readonly body: string;
}

/**
 * graphile-worker with a task for each delivery, which signs, posts and records as our worker does. It need not keep the order
 * of a reading, limits or turns, and fetches and completes its jobs in batches.
 */
const peer = async (databaseUrl: string): Promise<void> => {
  const { config, pool, vault } = surroundings(databaseUrl);
  const sender = openSender({ config, resolve: resolveHost, clock: systemClock, log: console });
  const deliver: Task = async (payload) => {
    const { deliveryId, endpointId, eventId, createdAt } = payload as PeerDelivery;
    const { rows } = await pool.query<Row>({ name: 'read', text: READ, values: [endpointId, eventId] });
    const { url, secrets: stored, type, body: text } = rows[0]!;
    const secrets = await vault.open(
      endpointId,
      stored.map(({ ref }) => ref),
    );
    const body = Buffer.from(text, 'utf8');
    const startedAt = Date.now();
    const headers = signedHeaders({
      deliveryId,
      eventId,
      type,
      attempt: 1,
      test: false,
      redelivery: false,
      body,
      secrets,
      timestamp: Math.floor(startedAt / 1_000),
    });
    const result = await sender.send({ workspaceId: 'peer', endpointId, url, headers, body });
    if (result === 'cancelled') throw new Error('cancelled');
    const endedAt = Date.now();
    const [started, ended] = [startedAt, endedAt].map((at) => new Date(at).toISOString());
    await pool.query({
      name: 'record',
      text: RECORD,
      values: [
        deliveryId,
        endpointId,
        eventId,
        createdAt,
        started,
        ended,
        endedAt - startedAt,
        result.statusCode,
        result.error,
      ],
    });
  };
  const runner = await run({
    pgPool: pool,
    taskList: { deliver },
    noHandleSignals: true,
    preset: {
      worker: {
        schema: PEER_SCHEMA,
        concurrentJobs: CONCURRENCY,
        localQueue: { size: 2 * CONCURRENCY },
        completeJobBatchDelay: 5,
        failJobBatchDelay: 5,
        pollInterval: 1_000,
      },
    },
  });
  process.once('SIGTERM', () => void runner.stop().finally(() => process.exit(0)));
  process.stdout.write(`${JSON.stringify({ pid: process.pid })}\n`);
};

const post = async (url: URL, seconds: number, concurrency: number): Promise<void> => {
  const agent = new Agent({ keepAlive: true });
  const body = Buffer.from(
    eventBody('evt_bare', '00000000-0000-4000-8000-000000000000', new Date().toISOString()),
  );
  const begun = process.cpuUsage();
  const endsAt = performance.now() + seconds * 1_000;
  let posted = 0;
  await Promise.all(
    Array.from({ length: concurrency }, async () => {
      while (performance.now() < endsAt) {
        await new Promise((resolve, reject) => {
          const headers = { 'content-type': 'application/json', 'content-length': body.length };
          request(url, { method: 'POST', agent, headers }, (answer) => answer.resume().once('end', resolve))
            .once('error', reject)
            .end(body);
        });
        posted += 1;
      }
    }),
  );
  const { user, system } = process.cpuUsage(begun);
  const cpuMs = (user + system) / 1_000 / posted;
  process.stdout.write(`${JSON.stringify({ perSecond: posted / seconds, cpuMs })}\n`);
  process.exit(0);
};

const [mode, target = '', seconds, concurrency] = process.argv.slice(2);
process.stdin.on('end', () => process.exit(1)).resume();
if (mode === 'bare') await post(new URL(target), Number(seconds), Number(concurrency));
else if (mode === 'peer') await peer(target);
else await work(target);
