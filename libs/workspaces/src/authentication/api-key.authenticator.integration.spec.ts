import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { randomBytes } from 'node:crypto';
import type pg from 'pg';
import { openPool } from '#platform/postgres/pool.js';
import { freshDatabase } from '../../../../test/support/fresh-database.js';
import { until } from '../../../../test/support/integrator.js';
import type { StartedPostgres } from '../../../../test/support/start-postgres.js';
import { apiKeyText, makeApiKey, RANDOM_BYTES } from '../domain/api-key.js';
import { ApiKeyQuery } from '../read-models/queries.js';
import { ApiKeyAuthenticator, type KeyUse, RevokedKeys } from './api-key.authenticator.js';

let postgres: StartedPostgres;
let pool: pg.Pool;
beforeAll(async () => {
  postgres = await freshDatabase();
  pool = openPool(postgres.databaseUrl, { size: 2, applicationName: 'keys', onError: () => undefined });
});
afterAll(async () => {
  await pool.end();
  await postgres.stop();
});

it('A process refuses a key that another one revoked, although the row that it cached never grows old', async () => {
  const key = makeApiKey({ id: randomBytes(RANDOM_BYTES), secret: randomBytes(RANDOM_BYTES) });
  await pool.query(
    `insert into workspaces.api_key (key_id, workspace_id, hash, issued_at) values ($1, gen_random_uuid(), $2, now())`,
    [key.keyId, key.hash],
  );
  const keys = new ApiKeyQuery(pool);
  const authenticator = new ApiKeyAuthenticator(
    keys,
    { now: () => Date.now() },
    { DATABASE_URL: postgres.databaseUrl },
    { note: () => undefined } as unknown as KeyUse,
    new RevokedKeys(),
    { now: () => 0 },
  );
  const verified = () => authenticator.verify(apiKeyText('live', key), null);
  authenticator.onApplicationBootstrap();
  try {
    await until(
      async () =>
        (await pool.query(`select from pg_stat_activity where query ilike 'listen%'`)).rowCount === 1,
      () => 'the process listens',
    );
    expect(await verified()).toMatchObject({ actor: `apiKey:${key.keyId}`, authMode: 'apiKey' });
    await pool.query('update workspaces.api_key set revoked_at = now() where key_id = $1', [key.keyId]);
    expect(await verified()).toMatchObject({ authMode: 'apiKey' });
    await keys.close(key.keyId, Date.now());
    await until(
      async () => 'refusal' in ((await verified()) ?? {}),
      () => 'the message arrives',
    );
  } finally {
    await authenticator.onApplicationShutdown();
  }
});
