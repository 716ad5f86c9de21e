import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { randomUUID } from 'node:crypto';
import { testDatabase } from '../../test/postgres.js';
import { TestService, wipe } from '../../test/service.js';
import { destroyUnused } from './unused-secrets.js';

const database = testDatabase();
const HOUR = 3_600_000;
const URL = 'http://127.0.0.1:8080/hook';
let service: TestService;
beforeEach(async () => {
  await wipe(database);
  service = new TestService(database);
});
afterEach(async () => service.stop());

const left = async (): Promise<number> =>
  (await database.pool.query('select from webhooks.secret')).rowCount ?? 0;
const untilStopped = new AbortController().signal;
const warnings: object[] = [];
const log = { warn: (told: object) => void warnings.push(told) };
const cleanUp = (later: number): Promise<number> =>
  destroyUnused({ pool: database.pool, streams: service.streams, log }, Date.now() + later, untilStopped);

describe('The clean-up of secrets', () => {
  it('destroys a secret once its overlap has ended, and never one that signs', async () => {
    service.follow();
    const { endpointId } = await service.create(URL);
    await service.rotate(endpointId, 7_200);
    expect(await cleanUp(1.5 * HOUR)).toBe(0);
    expect(await cleanUp(2.5 * HOUR)).toBe(1);
    const state = await service.streams.load(endpointId);
    const refs = state.secrets.map(({ ref }) => ref);
    expect(await service.vault.open(endpointId, refs)).toHaveLength(1);
    expect(await cleanUp(1_000 * HOUR)).toBe(0);
    // The endpoint's stream decides, whatever the tables say.
    await database.pool.query(`update webhooks.endpoint set secrets = '[]'`);
    expect(await cleanUp(1_000 * HOUR)).toBe(0);
    expect(await left()).toBe(1);
  });

  it('destroys the secret of a request that failed before its event, but not at once', async () => {
    const secret = service.vault.generate('we_never', {});
    const at = new Date().toISOString();
    await service.vault.store(secret, { endpointId: 'we_never', workspaceId: 'ws_1', at });
    expect(await cleanUp(0.5 * HOUR)).toBe(0);
    expect(await cleanUp(1.5 * HOUR)).toBe(1);
    expect(await left()).toBe(0);
  });

  it('keeps a secret that workers still sign with: their row is behind the stream', async () => {
    // Shown as its stream makes it.
    const { endpointId, url, signingSecret, secretHint, health } = await service.create(URL);
    expect([url, secretHint, health.state]).toEqual([URL, signingSecret.slice(-4), 'ok']);
    await database.pool.query(
      `insert into webhooks.endpoint (endpoint_id, workspace_id, url, events, secrets, revision, created_at, updated_at)
       select endpoint_id, workspace_id, $1, '{}',
              jsonb_build_array(jsonb_build_object('ref', secret_ref, 'validUntil', null)), 0, now(), now()
       from webhooks.secret`,
      [URL],
    );
    await service.rotate(endpointId, 0);
    const unnamed = service.vault.generate(endpointId, {});
    const owner = { endpointId, workspaceId: 'ws_1', at: new Date().toISOString() };
    await service.vault.store(unnamed, owner);
    expect(await cleanUp(1.5 * HOUR)).toBe(1);
    expect(await left()).toBe(2);
  });

  it('names an endpoint whose stream cannot be read, and goes on with the others', async () => {
    const [bad, good] = [await service.create(URL), await service.create(URL)];
    const created = service.store.log.find(({ stream }) => stream.endsWith(bad.endpointId))!;
    const { stream, revision, metadata } = created;
    await service.store.append(stream, revision, [
      { id: randomUUID(), type: 'WebhookEndpointUpdated', data: { nonsense: true }, metadata },
    ]);
    await service.rotate(good.endpointId, 0);
    warnings.length = 0;
    expect(await cleanUp(1.5 * HOUR)).toBe(1);
    expect(await left()).toBe(2);
    expect(warnings).toEqual([expect.objectContaining({ endpointId: bad.endpointId })]);
  });
});
