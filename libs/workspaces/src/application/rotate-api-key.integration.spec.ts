import { afterAll, beforeAll, expect, it } from '@jest/globals';
import type pg from 'pg';
import { ownRequest } from '#platform/cqrs/own-request.js';
import { InMemoryEventStore } from '#event-sourcing/testing/in-memory-event-store.js';
import { openPool } from '#platform/postgres/pool.js';
import { freshDatabase } from '../../../../test/support/fresh-database.js';
import type { StartedPostgres } from '../../../../test/support/start-postgres.js';
import { RevokedKeys } from '../authentication/api-key.authenticator.js';
import { IssueApiKey, OpenWorkspace, RotateApiKey } from '../contracts/index.js';
import { ApiKeyQuery } from '../read-models/queries.js';
import { createWorkspaceExecutor, OpenWorkspaceHandler } from './workspaces.js';
import { IssueApiKeyHandler, RotateApiKeyHandler } from './api-keys.js';

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
])('While no worker runs, a rotated key %s ends as it was answered', async (_, expiresAt, overlap, end) => {
  const executor = createWorkspaceExecutor(new InMemoryEventStore());
  const { workspaceId } = await new OpenWorkspaceHandler(executor, clock).execute(
    new OpenWorkspace('Atelier', by),
  );
  const asked = { label: null, mode: 'test', scopes: null, networks: null, expiresAt } as const;
  const issued = await new IssueApiKeyHandler(executor, clock).execute(
    new IssueApiKey(workspaceId, asked, by),
  );
  const keyId = issued.outcome === 'issued' ? issued.keyId : '';
  // What the workers had projected before they stopped.
  await pool.query(
    `insert into workspaces.api_key (key_id, workspace_id, hash, issued_at, expires_at) values ($1, $2, '', $3, $4)`,
    [keyId, workspaceId, new Date(NOW), expiresAt],
  );
  const keys = new ApiKeyQuery(pool);
  const rotating = new RotateApiKeyHandler(executor, clock, keys, new RevokedKeys());
  const rotated = await rotating.execute(new RotateApiKey(keyId, overlap, by, workspaceId));
  expect(rotated).toMatchObject({ outcome: 'rotated', previousExpiresAt: end });
  expect(await keys.find(keyId)).toMatchObject({ expiresAt: new Date(end), revokedAt: null });
});
