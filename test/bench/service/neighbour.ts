import type pg from 'pg';
import { Integrator, until } from '../../support/integrator.js';
import type { StartedStack } from '../../support/start-stack.js';
import { acceptBulk } from './bulk.js';
import { measureLatency } from './latency.js';

const QUEUED = 10_000;
const NEIGHBOURS = 20;

/**
 * Measures single readings of a workspace while at least 10,000 of another one wait for their generation. The worker is
 * paused before the call.
 * @returns readings in the queue as the first one is ordered, and milliseconds of each
 */
export const measureNeighbour = async (
  stack: StartedStack,
  customer: Integrator,
  database: pg.Pool,
): Promise<{ readonly queued: number; readonly latencies: readonly number[] }> => {
  const neighbour = await Integrator.open(stack, 1_000_000);
  const queued = async (): Promise<number> => {
    const { rows } = await database.query<{ queued: number }>(
      `select count(*)::int as queued from graphile_worker.jobs where task_identifier = 'readings.generate'`,
    );
    return rows[0]!.queued;
  };
  const { worker } = stack.pids();
  process.kill(worker, 'SIGCONT');
  let now = 0;
  await until(
    async () => {
      now = await queued();
      if (now < QUEUED) await acceptBulk(customer);
      return now >= QUEUED;
    },
    () => `${QUEUED} readings are queued`,
    600_000,
  );
  return { queued: now, latencies: await measureLatency(neighbour, database, NEIGHBOURS) };
};
