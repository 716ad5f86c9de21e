import { randomUUID } from 'node:crypto';
import type pg from 'pg';
import { loadConfig } from '#platform/config/load-config.js';
import { KeyRing } from '#platform/crypto/key-ring.js';
import { notifyDue } from '#webhooks/read-models/delivery-sql.js';
import { SecretVault } from '#webhooks/application/vaults.js';
import { settings } from '../../../apps/service/src/settings.js';

/** Concurrent attempts of a worker, of the bare loop and of the peer. */
export const CONCURRENCY = 128;
/** Where the peer, graphile-worker, has its tables. */
export const PEER_SCHEMA = 'peer_jobs';

/** What a task of the peer gets. */
export interface PeerDelivery {
  readonly deliveryId: string;
  readonly endpointId: string;
  readonly eventId: string;
  /** RFC 3339. */
  readonly createdAt: string;
}

const key = Buffer.alloc(32, 1).toString('base64');

/** Default settings of a worker, except that it may reach receivers on this machine. */
export const settingsFor = (databaseUrl: string): NodeJS.ProcessEnv => ({
  DATABASE_URL: databaseUrl,
  EVENTSTORE_URL: 'esdb://127.0.0.1:1?tls=false',
  ENCRYPTION_KEYS: `k1:${key}`,
  DIGEST_KEY: key,
  WEBHOOK_ALLOW_HTTP: '1',
  WEBHOOK_ALLOW_CIDRS: '127.0.0.0/8',
});

/** A body of typical length. */
export const eventBody = (eventId: string, readingId: string, createdAt: string): string =>
  `{"id":"${eventId}","type":"reading.completed","apiVersion":"v1","createdAt":"${createdAt}","workspaceId":"ws_bench",` +
  `"readingId":"${readingId}","sequence":1,"data":{"status":"completed","document":{"available":false,"version":null,` +
  `"artifactId":null,"publishedAt":null},"error":null,"links":{"reading":"/api/v1/readings/${readingId}",` +
  `"result":"/api/v1/readings/${readingId}/result","document":"/api/v1/readings/${readingId}/document?format=document_v1",` +
  `"markdown":"/api/v1/readings/${readingId}/document?format=markdown",` +
  `"pdf":"/api/v1/readings/${readingId}/document?format=pdf"}}}`;

/** Adds an endpoint in a separate workspace. @returns its id */
export const addEndpoint = async (pool: pg.Pool, databaseUrl: string, url: string): Promise<string> => {
  const [endpointId, workspaceId] = [`we_${randomUUID()}`, `ws_${randomUUID()}`];
  const vault = new SecretVault(
    pool,
    new KeyRing(loadConfig(settings, settingsFor(databaseUrl)).ENCRYPTION_KEYS),
  );
  const secret = vault.generate(endpointId, {});
  const at = new Date().toISOString();
  await vault.store(secret, { endpointId, workspaceId, at });
  await pool.query(
    `insert into webhooks.endpoint (endpoint_id, workspace_id, url, events, secrets, revision, created_at, updated_at)
     values ($1, $2, $3, '{reading.completed}', $4, 0, $5, $5)`,
    [endpointId, workspaceId, url, JSON.stringify([{ ref: secret.ref, validUntil: null }]), at],
  );
  return endpointId;
};

/** Adds so many events ($1) with this body ($2), one for each reading. */
export const ADDED_EVENTS = `
  with added as (
    select 'evt_' || gen_random_uuid() as event_id, gen_random_uuid() as reading_id, place, now() as at
    from generate_series(1, $1::integer) place
  ), stored as (
    insert into webhooks.public_event (event_id, workspace_id, reading_id, type, sequence, body, occurred_at)
    select event_id, 'ws_bench', reading_id, 'reading.completed', 1,
           replace(replace(replace($2, '<event>', event_id), '<reading>', reading_id::text), '<at>',
                   to_char(clock_timestamp() at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')), at
    from added
  )`;

/** Adds one event per reading with a delivery each, round-robin over the endpoints, and wakes the workers. */
export const addDeliveries = async (
  pool: pg.Pool,
  endpointIds: readonly string[],
  count: number,
  dueInSeconds = 0,
): Promise<void> => {
  await pool.query(
    `${ADDED_EVENTS}, inserted as (
     insert into webhooks.delivery (delivery_id, endpoint_id, workspace_id, event_id, reading_id, sequence, status, due_at,
                                    created_at)
     select webhooks.delivery_id(endpoint_id, event_id, at), endpoint_id, workspace_id, event_id, reading_id, 1, 'pending',
            at + $4 * interval '1 second' + place * interval '1 microsecond', at
     from added join webhooks.endpoint on endpoint_id = ($3::text[])[1 + place % array_length($3::text[], 1)]
     returning workspace_id)
     ${notifyDue('inserted')}`,
    [count, eventBody('<event>', '<reading>', '<at>'), endpointIds, dueInSeconds],
  );
};

/**
 * Adds deliveries due in a day or later, to make the table large. They need no event, since they are never read.
 */
export const addPending = (pool: pg.Pool, endpointIds: readonly string[], count: number): Promise<unknown> =>
  pool.query(
    `insert into webhooks.delivery (delivery_id, endpoint_id, workspace_id, event_id, reading_id, sequence, status, due_at,
                                    created_at)
     select gen_random_uuid(), endpoint.endpoint_id, endpoint.workspace_id, 'evt_' || place,
            gen_random_uuid(), 1, 'pending', now() + interval '1 day' + place * interval '1 millisecond', now()
     from generate_series(1, $1::integer) place
     join webhooks.endpoint on endpoint_id = ($2::text[])[1 + place % array_length($2::text[], 1)]`,
    [count, endpointIds],
  );
