import type pg from 'pg';
import type { Logger } from 'pino';
import { instant, type Clock } from '#event-sourcing/core/clock.js';
import { isDependencyAway } from '#event-sourcing/store/errors.js';
import { repeatedWork } from '#platform/work/repeated-work.js';
import type { WorkLoop } from '#platform/work/work-registry.js';
import { refsInForce, type WebhookEndpoint } from '../domain/webhook-endpoint.decider.js';
import type { EndpointStreams } from './endpoint-streams.js';

const EVERY_MS = 3_600_000;
/** An event may be about to name a younger secret. */
const MINIMUM_AGE = '1 hour';
const PAGE = 500;

interface CleanUpParts {
  readonly pool: pg.Pool;
  readonly streams: Pick<EndpointStreams, 'load'>;
  readonly log: Pick<Logger, 'warn'>;
}

/** What an endpoint's events name, and what is destroyed once they no longer do. */
interface Sealed {
  readonly table: string;
  readonly ref: string;
  /** SQL: the row, by which workers send, does not use it either. $1: now. */
  readonly isUnused: string;
  /** References that the endpoint still uses. @param now milliseconds since the epoch */
  readonly used: (endpoint: WebhookEndpoint, now: number) => readonly string[];
}

const SEALED: readonly Sealed[] = [
  {
    table: 'webhooks.secret',
    ref: 'secret_ref',
    isUnused: `not exists (
      select from jsonb_array_elements(endpoint.secrets) used
      where used ->> 'ref' = stored.secret_ref::text
        and coalesce((used ->> 'validUntil')::timestamptz > $1::timestamptz, true))`,
    used: ({ secrets }, now) => refsInForce(secrets, now),
  },
  {
    table: 'webhooks.endpoint_headers',
    ref: 'headers_ref',
    isUnused: 'endpoint.headers_ref is distinct from stored.headers_ref',
    used: ({ existence, headersRef }) => (existence === 'live' && headersRef !== null ? [headersRef] : []),
  },
];

/** SQL: rows of a table that may be unused. $1: now. */
const unusedRows = ({ table, isUnused }: Sealed): string =>
  `from ${table} stored left join webhooks.endpoint on endpoint.endpoint_id = stored.endpoint_id
   where stored.created_at < $1::timestamptz - interval '${MINIMUM_AGE}' and ${isUnused}`;

const ALL_UNUSED = SEALED.map((sealed) => `select stored.endpoint_id ${unusedRows(sealed)}`).join(
  ' union all ',
);

/** Endpoints with such rows, in the order of their ids. $2: the last one before. */
const PROPOSED = `
  select distinct endpoint_id from (${ALL_UNUSED}) unused
  where endpoint_id > $2 order by endpoint_id limit ${PAGE}`;

/** $2: the endpoint, $3: what it uses. */
const destroyOf = (sealed: Sealed): string => `
  delete from ${sealed.table} where ${sealed.ref} in (
    select stored.${sealed.ref} ${unusedRows(sealed)}
      and stored.endpoint_id = $2 and stored.${sealed.ref} <> all ($3::uuid[]))`;

/** Destroys secrets whose overlap has ended, that newer ones replaced, or whose request failed; and replaced custom headers. */
export const destroyUnusedSecrets = (parts: CleanUpParts & { readonly clock: Clock }): WorkLoop =>
  repeatedWork(
    'webhooks.unused-secrets',
    EVERY_MS,
    (signal) => destroyUnused(parts, parts.clock.now(), signal),
    parts.log,
  );

/**
 * One round. The tables only propose; the endpoint's stream decides, because a lagging fan-out must not cost a secret.
 * An endpoint whose stream cannot be read keeps what it has, and does not hold up the others.
 * @param now milliseconds since the epoch
 * @returns how many were destroyed
 * @throws StoreUnavailable, or an error of PostgreSQL: the next round tries again
 */
export const destroyUnused = async (
  parts: CleanUpParts,
  now: number,
  signal: AbortSignal,
): Promise<number> => {
  let destroyed = 0;
  for (let last = ''; ;) {
    const { rows } = await parts.pool.query<{ endpoint_id: string }>(PROPOSED, [instant(now), last]);
    for (const { endpoint_id: endpointId } of rows) {
      if (signal.aborted) return destroyed;
      last = endpointId;
      destroyed += await destroyUnusedOf(parts, endpointId, now).catch((error: unknown) => {
        if (isDependencyAway(error)) throw error;
        const reason = error instanceof Error ? error.message : 'unknown';
        parts.log.warn({ endpointId, reason }, 'unused secrets stay: the endpoint cannot be read');
        return 0;
      });
    }
    if (rows.length < PAGE) return destroyed;
  }
};

const destroyUnusedOf = async (
  { pool, streams }: CleanUpParts,
  endpointId: string,
  now: number,
): Promise<number> => {
  const endpoint = await streams.load(endpointId);
  let destroyed = 0;
  for (const sealed of SEALED) {
    const values = [instant(now), endpointId, sealed.used(endpoint, now)];
    destroyed += (await pool.query(destroyOf(sealed), values)).rowCount ?? 0;
  }
  return destroyed;
};
