import type pg from 'pg';
import { StoreUnavailable } from '#event-sourcing/store/errors.js';
import { transaction } from '#platform/postgres/pool.js';
import { LanesFull, Lines } from '#platform/work/lanes.js';

/** Work of one workspace or endpoint, under way or waiting in a process: more than rate limits admit at once. */
const MOST = 200;

const lines = new Lines(MOST);

/** Who asks for a change. */
export interface Asker {
  readonly workspaceId: string;
  /** Throws when the credentials of the request have ended while it waited. */
  readonly stands?: (() => Promise<void>) | undefined;
}

/**
 * Does what is asked of one workspace or endpoint one after another, in this process. What waits holds no connection.
 * @throws StoreUnavailable when too much waits
 */
export const serialized = async <T>(
  id: string,
  stands: Asker['stands'],
  work: () => Promise<T>,
): Promise<T> => {
  const turn = async (): Promise<T> => {
    await stands?.();
    return work();
  };
  return lines.run(id, turn).catch((error: unknown) => {
    if (!(error instanceof LanesFull)) throw error;
    throw new StoreUnavailable('Too many requests about the same webhooks are waiting', false);
  });
};

/** Does it for a workspace as a transaction, beside which no other of any process runs that is about the same. */
export const withAdvisoryLock = <T>(
  pool: pg.Pool,
  { workspaceId, stands }: Asker,
  about: string,
  change: (client: pg.PoolClient) => Promise<T>,
): Promise<T> =>
  serialized(workspaceId, stands, () =>
    transaction(pool, async (client) => {
      await client.query('select pg_advisory_xact_lock(hashtextextended($1, 0))', [`webhooks|${about}`]);
      return change(client);
    }),
  );
