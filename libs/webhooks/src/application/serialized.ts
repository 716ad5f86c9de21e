import type pg from 'pg';
import { StoreUnavailable } from '#event-sourcing/store/errors.js';
import { transaction } from '#platform/postgres/pool.js';
import { LanesFull, Lines } from '#platform/work/lanes.js';

/** Changes of one workspace's webhooks, under way or waiting in a process: more than its rate limits admit at once. */
const MOST = 200;

const lines = new Lines(MOST);

/**
 * One change of a workspace's webhooks after the other, in this process. Those that wait hold no connection.
 * @throws StoreUnavailable when too many wait
 */
export const serialized = <T>(workspaceId: string, change: () => Promise<T>): Promise<T> =>
  lines.run(workspaceId, change).catch((error: unknown) => {
    if (!(error instanceof LanesFull)) throw error;
    throw new StoreUnavailable('Too many changes of webhooks of the workspace are waiting', false);
  });

/** The same as a transaction that no other of any process runs beside, if it is about the same. */
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
