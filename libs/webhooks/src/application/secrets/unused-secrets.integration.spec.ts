import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { startDatabase, type TestDatabase } from '../../../test/postgres.js';
import { TestService, wipe } from '../../../test/service.js';
import { destroyUnused } from './unused-secrets.js';

const HOUR = 3_600_000;
const URL = 'http://127.0.0.1:8080/hook';

let database: TestDatabase;
let service: TestService;

beforeAll(async () => {
  database = await startDatabase();
});
afterAll(async () => database.stop());
beforeEach(async () => {
  await wipe(database);
  service = new TestService(database);
});
afterEach(async () => service.stop());

const left = async (): Promise<number> =>
  (await database.pool.query('select from webhooks.secret')).rowCount ?? 0;
const cleanUp = (later: number): Promise<number> =>
  destroyUnused(database.pool, service.streams, Date.now() + later);

describe('The clean-up of secrets', () => {
  it('destroys a secret once its overlap has ended, and never one that signs', async () => {
    service.follow();
    const { endpointId } = await service.create(URL);
    await service.rotate(endpointId, 7_200);
    expect(await cleanUp(1.5 * HOUR)).toBe(0);
    expect(await cleanUp(2.5 * HOUR)).toBe(1);
    const { state } = await service.streams.read(endpointId);
    const refs = state.secrets.map(({ ref }) => ref);
    expect(await service.vault.open(endpointId, refs)).toHaveLength(1);
    expect(await cleanUp(1_000 * HOUR)).toBe(0);
    // The endpoint's stream decides, whatever the tables say.
    await database.pool.query(`update webhooks.endpoint set secrets = '[]'`);
    expect(await cleanUp(1_000 * HOUR)).toBe(0);
    expect(await left()).toBe(1);
  });

  it('finds unused secrets behind any number of older ones that sign', async () => {
    const { endpointId } = await service.create(URL);
    await database.pool.query(
      `with signing as (
         insert into webhooks.secret (secret_ref, endpoint_id, workspace_id, sealed, hint, created_at)
         select gen_random_uuid(), 'we_' || n, 'ws_1', '', '', now() - interval '1 day' from generate_series(1, 600) n
         returning secret_ref, endpoint_id
       )
       insert into webhooks.endpoint (endpoint_id, workspace_id, url, events, secrets, revision, created_at, updated_at)
       select endpoint_id, 'ws_1', $1, '{reading.completed}',
              jsonb_build_array(jsonb_build_object('ref', secret_ref, 'validUntil', null)), 0, now(), now()
       from signing`,
      [URL],
    );
    await service.rotate(endpointId, 0);
    expect(await cleanUp(1.5 * HOUR)).toBe(1);
  });

  it('destroys the secret of a request that failed before its event, but not at once', async () => {
    const secret = service.vault.generate('we_never');
    const at = new Date().toISOString();
    await service.vault.store(secret, { endpointId: 'we_never', workspaceId: 'ws_1', at });
    expect(await cleanUp(0.5 * HOUR)).toBe(0);
    expect(await cleanUp(1.5 * HOUR)).toBe(1);
    expect(await left()).toBe(0);
  });

  it('keeps the secrets of endpoints that the fan-out has not seen yet', async () => {
    const { endpointId } = await service.create(URL);
    await service.rotate(endpointId, 0);
    expect(await cleanUp(1.5 * HOUR)).toBe(1);
    expect(await left()).toBe(1);
  });
});
