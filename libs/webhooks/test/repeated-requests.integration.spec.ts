import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { UnansweredAppends } from '#event-sourcing/testing/unanswered-appends.js';
import { SecretVault } from '../src/application/vaults.js';
import { TestApi } from './api.js';
import { startDatabase, type TestDatabase } from './postgres.js';

const store = new UnansweredAppends();
let database: TestDatabase;
let api: TestApi;

beforeAll(async () => {
  database = await startDatabase();
  api = await TestApi.start(database, {}, store);
});
afterAll(async () => {
  await api.stop();
  await database.stop();
});

const post = async (path: string, key: string, body: object, as = 'ws_1') => {
  const response = await api.request('post', `/webhooks${path}`, as, body).set('idempotency-key', key);
  const { status, headers } = response;
  return {
    status,
    replayed: headers['idempotency-replayed'],
    body: response.body as Record<string, string>,
  };
};
const url = 'https://receiver.example/hook';
const headers = { 'x-tenant': 'one' };
/** The secrets that sign for the endpoint, newest first. */
const secretsOf = async (endpointId: string) => {
  const { rows } = await database.pool.query<{ secret_ref: string }>(
    'select secret_ref from webhooks.secret where endpoint_id = $1 order by created_at desc',
    [endpointId],
  );
  return api.app.get(SecretVault, { strict: false }).open(
    endpointId,
    rows.map(({ secret_ref: ref }) => ref),
  );
};

it('POSTs that were done without an answer are done once, and a repeat answers with the secret that signs', async () => {
  for (let nr = 1; nr < 16; nr += 1) expect(await post('', `${nr}`, { url })).toMatchObject({ status: 201 });
  const before = store.log.length;
  const create = () => post('', 'create', { url, headers });
  expect(await store.without(create)).toMatchObject({ status: 503, body: { code: 'enqueue_unavailable' } });
  const other = { url: 'https://other.example/hook' };
  expect(await post('', 'create', other)).toMatchObject({
    status: 422,
    body: { code: 'idempotency_key_reused' },
  });
  // The endpoint has the last place. Its secret is for the caller who made it.
  expect(await post('', 'create', { url, headers }, 'ws_1:k2')).toMatchObject({
    status: 409,
    body: { code: 'endpoint_limit_reached' },
  });
  const created = await create();
  expect(created).toMatchObject({ status: 201, body: { url, headerNames: ['x-tenant'] } });
  const endpointId = created.body['endpointId']!;
  expect(await secretsOf(endpointId)).toEqual([created.body['signingSecret']]);
  expect(await create()).toMatchObject({ status: 201, replayed: 'true', body: { endpointId } });
  expect(store.log.slice(before).map(({ type }) => type)).toEqual(['WebhookEndpointCreated']);

  const rotate = () => post(`/${endpointId}/rotate-secret`, 'rotate', { overlapSeconds: 0 });
  expect(await store.without(rotate)).toMatchObject({ status: 503 });
  const rotated = await rotate();
  const [, { data } = { data: {} }, ...more] = store.log.slice(before);
  expect(more).toEqual([]);
  const { signingSecret, previousValidUntil } = rotated.body;
  expect(rotated.status).toBe(200);
  expect(data).toMatchObject({ previousValidUntil });
  expect((await secretsOf(endpointId))[0]).toBe(signingSecret);
});
