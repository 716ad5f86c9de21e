import { setTimeout as delay } from 'node:timers/promises';
import type pg from 'pg';
import { instant, type Clock } from '@app/event-sourcing/core/clock.js';
import type { WorkLoop } from '@app/platform/work/work-registry.js';
import type { EndpointStreams } from '../endpoint-streams.js';

const EVERY_MS = 3_600_000;
/** An event may be about to name a younger secret. */
const MINIMUM_AGE_MS = 3_600_000;
const AT_A_TIME = 500;

/**
 * Destroys secrets that no longer sign: their overlap has ended, newer ones replaced them, or their request failed
 * before its event. Signing never depends on this: the time stamp ends an overlap.
 */
export const destroyUnusedSecrets = (pool: pg.Pool, streams: EndpointStreams, clock: Clock): WorkLoop => ({
  name: 'webhooks.unused-secrets',
  async run(signal) {
    while (!signal.aborted) {
      // The store may be unavailable for a while: the next round tries again.
      await destroyUnused(pool, streams, clock.now()).catch(() => undefined);
      await delay(EVERY_MS, undefined, { signal }).catch(() => undefined);
    }
  },
});

/**
 * One round. The tables only propose; the endpoint's stream decides, because a lagging fan-out must not cost a secret.
 * @param now milliseconds since the epoch
 * @returns how many were destroyed
 */
export const destroyUnused = async (
  pool: pg.Pool,
  streams: EndpointStreams,
  now: number,
): Promise<number> => {
  const { rows } = await pool.query<{ secret_ref: string; endpoint_id: string }>(
    `select secret_ref, secret.endpoint_id from webhooks.secret left join webhooks.endpoint using (endpoint_id)
     where secret.created_at < $1
       and not exists (
         select from jsonb_array_elements(endpoint.secrets) used
         where used ->> 'ref' = secret_ref::text
           and coalesce((used ->> 'validUntil')::timestamptz > $2::timestamptz, true))
     order by secret.created_at limit ${AT_A_TIME}`,
    [instant(now - MINIMUM_AGE_MS), instant(now)],
  );
  const unused: string[] = [];
  for (const { secret_ref: ref, endpoint_id: endpointId } of rows) {
    const { state } = await streams.read(endpointId);
    const signs = state.secrets.some(
      (secret) => secret.ref === ref && (secret.validUntil === null || Date.parse(secret.validUntil) > now),
    );
    if (!signs) unused.push(ref);
  }
  await pool.query('delete from webhooks.secret where secret_ref = any ($1)', [unused]);
  return unused.length + (await destroyReplacedHeaders(pool, streams, now));
};

/** The same for custom headers: those of the endpoint's last settings are sent. */
const destroyReplacedHeaders = async (
  pool: pg.Pool,
  streams: EndpointStreams,
  now: number,
): Promise<number> => {
  const { rows } = await pool.query<{ headers_ref: string; endpoint_id: string }>(
    `select stored.headers_ref, stored.endpoint_id
     from webhooks.endpoint_headers stored left join webhooks.endpoint using (endpoint_id)
     where stored.created_at < $1 and endpoint.headers_ref is distinct from stored.headers_ref
     order by stored.created_at limit ${AT_A_TIME}`,
    [instant(now - MINIMUM_AGE_MS)],
  );
  const replaced: string[] = [];
  for (const { headers_ref: ref, endpoint_id: endpointId } of rows) {
    const { state } = await streams.read(endpointId);
    if (state.existence !== 'live' || state.headersRef !== ref) replaced.push(ref);
  }
  await pool.query('delete from webhooks.endpoint_headers where headers_ref = any ($1)', [replaced]);
  return replaced.length;
};
