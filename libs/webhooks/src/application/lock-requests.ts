import type pg from 'pg';

/**
 * Serializes requests that add deliveries to an endpoint on demand, across all processes, so that concurrent requests
 * cannot exceed a limit. Held until the transaction ends. Acquire it before every other lock.
 */
export const lockRequestsOf = async (client: pg.PoolClient, endpointId: string): Promise<void> => {
  await client.query('select pg_advisory_xact_lock(hashtextextended($1, 0))', [
    `webhooks.requests|${endpointId}`,
  ]);
};
