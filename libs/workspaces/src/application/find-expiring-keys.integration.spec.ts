import { afterAll, beforeAll, expect, it } from '@jest/globals';
import type pg from 'pg';
import { openPool } from '#platform/postgres/pool.js';
import { freshDatabase } from '../../../../test/support/fresh-database.js';
import type { StartedPostgres } from '../../../../test/support/start-postgres.js';
import { FindExpiringKeys } from '../contracts/index.js';
import { FindExpiringKeysHandler } from './api-keys.js';

const DAY = 86_400_000;
const NOW = Date.parse('2026-04-04T09:30:00.000Z');
const at = (days: number): string => new Date(NOW + days * DAY).toISOString();

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

const key = (keyId: string, issued: number, expires: number | null, revoked = false) =>
  pool.query(
    `insert into workspaces.api_key (key_id, workspace_id, hash, issued_at, expires_at, revoked_at)
     values ($1, 'ws_1', '', $2, $3, $4)`,
    [keyId, at(issued), expires === null ? null : at(expires), revoked ? at(0) : null],
  );

it('Keys in use that were made for long and expire soon are found', async () => {
  await key('soon', -100, 14);
  await key('later', -100, 14.1);
  await key('short', -1, 3);
  await key('over', -100, -1);
  await key('revoked', -100, 3, true);
  await key('always', -100, null);
  const { found, next } = await new FindExpiringKeysHandler(pool).execute(
    new FindExpiringKeys(at(0), 14 * DAY, ''),
  );
  expect(found).toEqual([{ workspaceId: 'ws_1', keyId: 'soon', mode: 'live', expiresAt: at(14) }]);
  expect(next).toBeNull();
});
