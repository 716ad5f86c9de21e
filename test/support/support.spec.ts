import { describe, expect, it } from '@jest/globals';
import pg from 'pg';
import { startPostgres } from './start-postgres.js';

describe('startPostgres', () => {
  it('gives a migrated, durable PostgreSQL and leaves nothing behind', async () => {
    const t = performance.now();
    const postgres = await startPostgres();
    console.log(performance.now() - t);
    const client = new pg.Client({ connectionString: postgres.databaseUrl });
    await client.connect();
    const { rows } = await client.query<{ fsync: string }>('show fsync');
    await client.end();
    await postgres.stop();
    expect(rows).toEqual([{ fsync: 'on' }]);
  });
});
