import { Global, Module } from '@nestjs/common';
import { APP_FILTER, APP_GUARD, APP_INTERCEPTOR, APP_PIPE } from '@nestjs/core';
import type { NestExpressApplication } from '@nestjs/platform-express';
import { Test } from '@nestjs/testing';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { pino } from 'pino';
import supertest from 'supertest';
import { EVENT_STORE } from '#event-sourcing/store/event-store.js';
import { UnansweredAppends } from '#event-sourcing/testing/unanswered-appends.js';
import { AuthGuard, ScopeGuard } from '#platform/auth/auth.guard.js';
import { AUTHENTICATOR, type Principal } from '#platform/auth/authentication.js';
import { API_KEY_SCOPES } from '#platform/auth/scopes.js';
import { BodyPipe } from '#platform/http/body.pipe.js';
import { configureHttp } from '#platform/http/configure-http.js';
import { JsonBodyInterceptor } from '#platform/http/json-body.interceptor.js';
import { ProblemFilter } from '#platform/http/problem.filter.js';
import { IdempotencyInterceptor } from '#platform/idempotency/idempotency.interceptor.js';
import { IdempotentRequests } from '#platform/idempotency/idempotent-requests.js';
import { PlatformModule } from '#platform/platform.module.js';
import { startDatabase, type TestDatabase } from './postgres.js';
import { testConfig } from './service.js';
import { WebhooksHttpModule } from '../src/webhooks-http.module.js';
import { SecretVault } from '../src/application/vaults.js';

const caller: Principal = {
  authMode: 'apiKey',
  mode: 'live',
  sees: ['live'],
  workspaceId: 'ws_1',
  actor: 'apiKey:k1',
  scopes: API_KEY_SCOPES,
};

@Global()
@Module({
  providers: [
    {
      provide: AUTHENTICATOR,
      useValue: { verifyApiKey: async (key: string) => ({ ...caller, actor: `apiKey:${key}` }) },
    },
  ],
  exports: [AUTHENTICATOR],
})
class EveryKey {}

const store = new UnansweredAppends();
let database: TestDatabase;
let app: NestExpressApplication;

beforeAll(async () => {
  database = await startDatabase();
  const config = testConfig(database);
  const log = pino({ level: 'silent' });
  const module = await Test.createTestingModule({
    imports: [PlatformModule.forProcess(config, log), EveryKey, WebhooksHttpModule],
    providers: [
      IdempotentRequests,
      { provide: APP_FILTER, useClass: ProblemFilter },
      { provide: APP_GUARD, useClass: AuthGuard },
      { provide: APP_GUARD, useClass: ScopeGuard },
      { provide: APP_INTERCEPTOR, useClass: JsonBodyInterceptor },
      { provide: APP_INTERCEPTOR, useClass: IdempotencyInterceptor },
      { provide: APP_PIPE, useClass: BodyPipe },
    ],
  })
    .overrideProvider(EVENT_STORE)
    .useValue(store)
    .compile();
  app = module.createNestApplication<NestExpressApplication>({ bodyParser: false, logger: false });
  configureHttp(app, config, log);
  await app.listen(0, '127.0.0.1');
});

afterAll(async () => {
  await app.close();
  await database.stop();
});

const post = async (path: string, key: string, body: object, apiKey = 'k1') => {
  const {
    status,
    headers,
    body: answer,
  } = await supertest(app.getHttpServer())
    .post(`/api/v1/webhooks${path}`)
    .set({ 'x-api-key': apiKey, 'idempotency-key': key })
    .send(body);
  return { status, replayed: headers['idempotency-replayed'], body: answer as Record<string, string> };
};
const url = 'https://receiver.example/hook';
const headers = { 'x-tenant': 'one' };
/** The secrets that sign for the endpoint, newest first. */
const secretsOf = async (endpointId: string) => {
  const { rows } = await database.pool.query<{ secret_ref: string }>(
    'select secret_ref from webhooks.secret where endpoint_id = $1 order by created_at desc',
    [endpointId],
  );
  return app.get(SecretVault, { strict: false }).open(
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
  expect(await post('', 'create', { url, headers }, 'k2')).toMatchObject({
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
