import type pg from 'pg';
import type { Logger } from 'pino';
import { instant, type Clock } from '#event-sourcing/core/clock.js';
import { isDependencyAway } from '#event-sourcing/store/errors.js';
import { repeatedWork } from '#platform/work/repeated-work.js';
import type { WorkLoop } from '#platform/work/work-registry.js';
import { refsInForce, type WebhookEndpoint } from '../domain/webhook-endpoint.decider.js';
import type { EndpointStreams } from './endpoints.js';

const EVERY_MS = 3_600_000;
/** An event may be about to name a younger secret. */
const MINIMUM_AGE = '1 hour';
/** Endpoints looked at in one round, chosen at random: none holds up the others. */
const AT_ONCE = 500;

interface CleanUpParts {
  readonly pool: pg.Pool;
  readonly streams: Pick<EndpointStreams, 'load'>;
  readonly log: Pick<Logger, 'warn'>;
}

/** SQL: rows of a table whose reference the row of their endpoint, by which workers send, does not use. $1: now. */
const unused = (table: string, isUnused: string): string =>
  `from ${table} stored left join webhooks.endpoint using (endpoint_id)
   where stored.created_at < $1::timestamptz - interval '${MINIMUM_AGE}' and ${isUnused}`;

/** Secrets that no longer sign, with the references that the events of an endpoint still use. */
const SECRETS = unused(
  'webhooks.secret',
  `not exists (
     select from jsonb_array_elements(endpoint.secrets) used
     where used ->> 'ref' = stored.secret_ref::text
       and coalesce((used ->> 'validUntil')::timestamptz > $1::timestamptz, true))`,
);
const HEADERS = unused(
  'webhooks.endpoint_headers',
  'endpoint.headers_ref is distinct from stored.headers_ref',
);

const PROPOSED = `
  select endpoint_id from (select endpoint_id ${SECRETS} union select endpoint_id ${HEADERS}) unused
  order by random() limit ${AT_ONCE}`;

/** $2: the endpoint, $3: the references that its events name. */
const destroy = (table: string, ref: string, rows: string): string => `
  delete from ${table} where ${ref} in (
    select stored.${ref} ${rows} and stored.endpoint_id = $2 and stored.${ref} <> all ($3::uuid[]))`;

const DESTROYED = [
  destroy('webhooks.secret', 'secret_ref', SECRETS),
  destroy('webhooks.endpoint_headers', 'headers_ref', HEADERS),
];

/** Destroys secrets whose overlap has ended, that newer ones replaced, or whose request failed; and replaced custom headers. */
export const destroyUnusedSecrets = (parts: CleanUpParts & { readonly clock: Clock }): WorkLoop =>
  repeatedWork(
    'webhooks.unused-secrets',
    EVERY_MS,
    async (signal) => void (await destroyUnused(parts, parts.clock.now(), signal)),
    parts.log,
  );

/**
 * One round. The tables only propose; the endpoint's stream decides, because a lagging fan-out must not cost a secret.
 * An endpoint whose stream cannot be read keeps what it has.
 * @param now milliseconds since the epoch
 * @returns how many were destroyed
 * @throws StoreUnavailable, or an error of PostgreSQL: the next round tries again
 */
export const destroyUnused = async (
  { pool, streams, log }: CleanUpParts,
  now: number,
  signal: AbortSignal,
): Promise<number> => {
  let destroyed = 0;
  const { rows } = await pool.query<{ endpoint_id: string }>(PROPOSED, [instant(now)]);
  for (const { endpoint_id: endpointId } of rows) {
    if (signal.aborted) break;
    try {
      const used = refsOf(await streams.load(endpointId), now);
      for (const text of DESTROYED)
        destroyed += (await pool.query(text, [instant(now), endpointId, used])).rowCount ?? 0;
    } catch (error) {
      if (isDependencyAway(error)) throw error;
      const reason = error instanceof Error ? error.message : 'unknown';
      log.warn({ endpointId, reason }, 'unused secrets stay: the endpoint cannot be read');
    }
  }
  return destroyed;
};

/** What the events of an endpoint still name, of secrets and headers alike: all references are random. */
const refsOf = ({ existence, secrets, headersRef }: WebhookEndpoint, now: number): readonly string[] => [
  ...refsInForce(secrets, now),
  ...(existence === 'live' && headersRef !== null ? [headersRef] : []),
];
