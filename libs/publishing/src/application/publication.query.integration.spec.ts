import { afterAll, beforeAll, beforeEach, expect, it } from '@jest/globals';
import pg from 'pg';
import { freshDatabase } from '../../../../test/support/fresh-database.js';
import { StoreUnavailable } from '#event-sourcing/store/errors.js';
import { PublicationQuery } from './publication.query.js';

const READING = '0c3a9c0a-5f0e-4d5b-8f5e-3f7d2a1b6c90';
let postgres: Awaited<ReturnType<typeof freshDatabase>>;
let pool: pg.Pool;
/** The versions that the stream has published. */
let inStream: readonly number[] = [];
let streamsRead = 0;
let isStoreAway = false;
let query: PublicationQuery;

beforeAll(async () => {
  postgres = await freshDatabase();
  pool = new pg.Pool({ connectionString: postgres.databaseUrl, max: 2 });
  pool.on('error', () => undefined);
  const load = async () => {
    streamsRead += 1;
    if (isStoreAway) throw new StoreUnavailable('away', false);
    return { state: { published: new Map(inStream.map((version) => [version, {}])), pending: new Map() } };
  };
  query = new PublicationQuery(pool, { load } as never);
  await pool.query(
    `insert into publishing.publication (reading_id, version, workspace_id, artifact_id, published_at, correlation_id)
     values ($1, 1, 'ws_1', 'art_1', now(), 'req_1')`,
    [READING],
  );
});
afterAll(async () => {
  await pool.end();
  await postgres.stop();
});
beforeEach(async () => {
  streamsRead = 0;
  isStoreAway = false;
  await pool.query('truncate publishing.republication');
});

const republicationIsRequested = () =>
  pool.query(
    `insert into publishing.republication (reading_id, version, workspace_id, due_at, correlation_id)
     values ($1, 2, 'ws_1', now(), 'req_2')`,
    [READING],
  );

it('The newest version is that of its row, and no stream is read', async () => {
  inStream = [1];
  expect(await query.find(READING)).toBe(1);
  expect(streamsRead).toBe(0);
});

it('While a later version is being made, the newest one is that of the stream: rows may not show it yet', async () => {
  await republicationIsRequested();
  inStream = [1];
  expect(await query.find(READING)).toBe(1);
  inStream = [1, 2];
  expect(await query.find(READING)).toBe(2);
});

it('An earlier version is that of its row meanwhile, too', async () => {
  await republicationIsRequested();
  expect(await query.find(READING, 1)).toBe(1);
  expect(streamsRead).toBe(0);
});

it('While the event store is away, the newest version is that of its row', async () => {
  await republicationIsRequested();
  isStoreAway = true;
  expect(await query.find(READING)).toBe(1);
});
