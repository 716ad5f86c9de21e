/**
 * The peer, in a separate process: peer-worker DATABASE_URL
 * graphile-worker with a task for each delivery, which signs, posts and records as our worker does. It need not keep the order
 * of a reading, limits or turns, and fetches and completes its jobs in batches.
 */
import { run, type Task } from 'graphile-worker';
import { systemClock } from '#event-sourcing/core/clock.js';
import { loadConfig } from '#platform/config/load-config.js';
import { KeyRing } from '#platform/crypto/key-ring.js';
import { openPool } from '#platform/postgres/pool.js';
import { resolveHost, openSender } from '#webhooks/processes/dispatch/sender.js';
import { SecretVault } from '#webhooks/application/vaults.js';
import { signedHeaders } from '#webhooks/domain/signed-headers.js';
import { countAttempts } from '#webhooks/read-models/hourly-stats.js';
import { settings } from '../../../apps/service/src/settings.js';
import { settingsFor } from './deliveries.js';
import { PEER_SCHEMA, type PeerDelivery } from './peer.js';
import { CONCURRENCY } from './sending.js';

const [databaseUrl = ''] = process.argv.slice(2);
const config = loadConfig(settings, settingsFor(databaseUrl));
const pool = openPool(databaseUrl, {
  size: config.DATABASE_POOL_SIZE,
  applicationName: 'bench',
  onError: () => undefined,
});
const vault = new SecretVault(pool, new KeyRing(config.ENCRYPTION_KEYS));
const sender = openSender({ config, resolve: resolveHost, clock: systemClock, log: console });

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
  const result = await sender.send({ endpointId, url, headers, body });
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
process.stdin.on('end', () => process.exit(1)).resume();
process.stdout.write(`${JSON.stringify({ pid: process.pid })}\n`);
