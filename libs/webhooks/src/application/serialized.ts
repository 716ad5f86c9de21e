import type pg from 'pg';
import { StoreUnavailable } from '#event-sourcing/store/errors.js';
import { transaction } from '#platform/postgres/pool.js';
import { LanesFull, Lines } from '#platform/work/lanes.js';

/** Work of one workspace or endpoint, under way or waiting in a process: more than rate limits admit at once. */
const MOST = 200;

const lines = new Lines(MOST);

/**
 * Does what is asked of one workspace or endpoint one after another, in this process. What waits holds no connection.
 * @throws StoreUnavailable when too much waits
 */
export const serialized = <T>(id: string, work: () => Promise<T>): Promise<T> =>
  lines.run(id, work).catch((error: unknown) => {
    if (!(error instanceof LanesFull)) throw error;
    throw new StoreUnavailable('Too many requests about the same webhooks are waiting', false);
  });

/** Does it for a workspace as a transaction, beside which no other of any process runs that is about the same. */
export const withAdvisoryLock = <T>(
  pool: pg.Pool,
  { workspaceId, about }: { readonly workspaceId: string; readonly about: string },
  change: (client: pg.PoolClient) => Promise<T>,
): Promise<T> =>
  serialized(workspaceId, () =>
    transaction(pool, async (client) => {
      await client.query('select pg_advisory_xact_lock(hashtextextended($1, 0))', [`webhooks|${about}`]);
      return change(client);
    }),
  );
