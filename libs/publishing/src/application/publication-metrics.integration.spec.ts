import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { randomUUID } from 'node:crypto';
import type pg from 'pg';
import { Registry } from 'prom-client';
import { openPool } from '#platform/postgres/pool.js';
import { freshDatabase } from '../../../../test/support/fresh-database.js';
import type { StartedPostgres } from '../../../../test/support/start-postgres.js';
import { PublicationMetrics } from './publish-document.job.js';

let postgres: StartedPostgres;
let pool: pg.Pool;

beforeAll(async () => {
  postgres = await freshDatabase();
  pool = openPool(postgres.databaseUrl, { size: 2, applicationName: 'spec', onError: () => undefined });
});
afterAll(async () => {
  await pool.end();
  await postgres.stop();
});

/** @param age since it is due; `null`: it is made */
const publication = (age: string | null) =>
  pool.query(
    `insert into publishing.publication (reading_id, version, workspace_id, artifact_id, due_at, correlation_id)
     values ($1, 1, 'ws_1', '', now() - $2::interval, 'req_1')`,
    [randomUUID(), age],
  );
const gauges = async (): Promise<Record<string, number>> => {
  const registry = new Registry();
  new PublicationMetrics(pool, registry);
  const text = await registry.metrics();
  return Object.fromEntries(
    [...text.matchAll(/^(publications_\w+) ([\d.]+)$/gm)].map(([, name, value]) => [name!, Number(value)]),
  );
};

it('Gauges show how many documents are overdue, and for how long', async () => {
  await publication(null);
  await publication('-20 seconds');
  expect(await gauges()).toEqual({ publications_overdue: 0, publications_oldest_overdue_seconds: 0 });
  await publication('2 minutes');
  await pool.query(
    `insert into publishing.republication (reading_id, version, workspace_id, due_at, correlation_id)
     values ($1, 2, 'ws_1', now() - interval '1 hour', 'req_2')`,
    [randomUUID()],
  );
  const { publications_overdue: overdue, publications_oldest_overdue_seconds: oldest } = await gauges();
  expect(overdue).toBe(2);
  expect(oldest).toBeGreaterThanOrEqual(3_600);
  expect(oldest).toBeLessThan(4_000);
});
