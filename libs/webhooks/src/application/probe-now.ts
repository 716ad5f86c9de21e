import type pg from 'pg';

/**
 * Lets an endpoint that keeps failing be tried at once, because a person asks for a delivery. Comes last in a transaction that
 * has locked the endpoint. A failure that is being recorded right now decides when the next probe is due: no lock on it is
 * waited for.
 * @param at RFC 3339
 */
export const probeNow = async (client: pg.PoolClient, endpointId: string, at: string): Promise<void> => {
  await client.query(
    `with waiting as (
       select endpoint_id from webhooks.endpoint_health where endpoint_id = $1 and probe_at > $2
       for update skip locked
     )
     update webhooks.endpoint_health set probe_at = $2 from waiting
     where endpoint_health.endpoint_id = waiting.endpoint_id`,
    [endpointId, at],
  );
};
