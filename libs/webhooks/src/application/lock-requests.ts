import type pg from 'pg';

/**
 * Lets one request at a time through that adds to what an endpoint is sent on demand, over all processes, so that
 * requests side by side cannot pass a limit. Held until the transaction ends; comes before every other lock.
 */
export const lockRequestsOf = async (client: pg.PoolClient, endpointId: string): Promise<void> => {
  await client.query('select pg_advisory_xact_lock(hashtextextended($1, 0))', [
    `webhooks.requests|${endpointId}`,
  ]);
};
