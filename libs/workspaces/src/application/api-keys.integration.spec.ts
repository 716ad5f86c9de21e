import { afterAll, beforeAll, expect, it } from '@jest/globals';
import type pg from 'pg';
import { ownRequest } from '#platform/cqrs/own-request.js';
import { InMemoryEventStore } from '#event-sourcing/testing/in-memory-event-store.js';
import { openPool } from '#platform/postgres/pool.js';
import { freshDatabase } from '../../../../test/support/fresh-database.js';
import type { StartedPostgres } from '../../../../test/support/start-postgres.js';
import { FindExpiringKeys, IssueApiKey, OpenWorkspace, RotateApiKey } from '../contracts/index.js';
import { ApiKeyQuery } from '../read-models/queries.js';
import {
  createWorkspaceExecutor,
  FindExpiringKeysHandler,
  IssueApiKeyHandler,
  OpenWorkspaceHandler,
  RotateApiKeyHandler,
} from './workspaces.js';

const NOW = Date.parse('2026-04-04T00:00:00.000Z');
const by = ownRequest('operator:ada');
const clock = { now: () => NOW };

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

it.each([
  ['endless', null, 60, '2026-04-04T00:01:00.000Z'],
  ['that ends within the overlap', '2026-04-04T00:00:30.000Z', 60, '2026-04-04T00:00:30.000Z'],
  ['without an overlap', null, 0, '2026-04-04T00:00:00.000Z'],
])('While no worker runs, a rotated key %s ends as it was answered', async (_, expiresAt, overlap, end) => {
  const executor = createWorkspaceExecutor(new InMemoryEventStore());
  const { workspaceId } = await new OpenWorkspaceHandler(executor, clock).execute(
    new OpenWorkspace('Atelier', by),
  );
  const asked = { label: 'shop', mode: 'test', scopes: null, networks: null, expiresAt } as const;
  const keys = new ApiKeyQuery(pool);
  // No worker makes a new key known.
  keys.known = async () => undefined;
  const issued = await new IssueApiKeyHandler(executor, clock, keys).execute(
    new IssueApiKey(workspaceId, asked, by),
  );
  const keyId = issued.outcome === 'issued' ? issued.keyId : '';
  // What the workers had projected before they stopped.
  await pool.query(
    `insert into workspaces.api_key (key_id, workspace_id, hash, issued_at, expires_at) values ($1, $2, '', $3, $4)`,
    [keyId, workspaceId, new Date(NOW), expiresAt],
  );
  const rotating = new RotateApiKeyHandler(executor, clock, keys);
  expect(await rotating.execute(new RotateApiKey(keyId, overlap, by, workspaceId))).toMatchObject({
    outcome: 'rotated',
    apiKey: expect.stringMatching(/^ek_test_/),
    terms: { label: 'shop', mode: 'test' },
    previousExpiresAt: end,
  });
  const ended = overlap === 0 ? { revokedAt: new Date(end) } : { expiresAt: new Date(end), revokedAt: null };
  expect(await keys.find(keyId)).toMatchObject(ended);
  const unknown = { outcome: 'unknown_key' };
  for (const workspace of [workspaceId, null])
    expect(await rotating.execute(new RotateApiKey('00000000', 60, by, workspace))).toEqual(unknown);
});

const DAY = 86_400_000;
const at = (days: number): string => new Date(NOW + days * DAY).toISOString();

const key = (keyId: string, issued: number, expires: number | null, revoked = false) =>
  pool.query(
    `insert into workspaces.api_key (key_id, workspace_id, hash, issued_at, expires_at, revoked_at)
     values ($1, 'ws_1', '', $2, $3, $4)`,
    [keyId, at(issued), expires === null ? null : at(expires), revoked ? at(0) : null],
  );

it('Keys in use that were made for long and expire soon are found', async () => {
  await pool.query('truncate workspaces.api_key');
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
