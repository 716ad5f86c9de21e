import { Module } from '@nestjs/common';
import { CommandBus, CqrsModule } from '@nestjs/cqrs';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { APP_FILTER, APP_GUARD } from '@nestjs/core';
import type { NestExpressApplication } from '@nestjs/platform-express';
import { Test } from '@nestjs/testing';
import { pino } from 'pino';
import supertest from 'supertest';
import { assertObserved, observeServer } from '../../../../../test/support/observe-contract.js';
import { Digester } from '#platform/crypto/digest.js';
import { EVENT_STORE } from '#event-sourcing/store/event-store.js';
import { InMemoryEventStore } from '#event-sourcing/testing/in-memory-event-store.js';
import { AuthGuard, ScopeGuard } from '#platform/auth/auth.guard.js';
import { AddressLimiter } from '#platform/rate-limit/address-limiter.js';
import { AUTHENTICATOR, type Principal } from '#platform/auth/authentication.js';
import { API_KEY_SCOPES } from '#platform/auth/scopes.js';
import { configureHttp } from '#platform/http/configure-http.js';
import { ProblemFilter } from '#platform/http/problem.filter.js';
import { POSTGRES } from '#platform/postgres/pool.js';
import { CLOCK, CONFIG, LOGGER, TRUSTED_CLOCK } from '#platform/tokens.js';
import { BillingHttpModule } from '../../billing-http.module.js';
import { ReserveCredits } from '#readings/contracts/index.js';
import { OpenBook, PurchasePack, SubscribeToPlan } from '../../contracts/index.js';

const BY = { actor: 'operator:ada', correlationId: 'correlation', causationId: 'cause' };

/** Every key is valid, and is the workspace. */
const everyKey = {
  verifyApiKey: (workspaceId: string): Promise<Principal> =>
    Promise.resolve({
      authMode: 'apiKey',
      mode: 'live',
      sees: ['live'],
      workspaceId,
      actor: 'apiKey:k1',
      scopes: API_KEY_SCOPES,
    }),
};
const clock = { now: () => Date.parse('2026-04-10T12:00:00.000Z') };
const globals = [
  { provide: EVENT_STORE, useValue: new InMemoryEventStore() },
  // Only the audit's queries read it.
  { provide: POSTGRES, useValue: null },
  { provide: Digester, useValue: new Digester(Buffer.alloc(32, 7).toString('base64')) },
  { provide: CONFIG, useValue: { CLOCK_REFUSE_MS: 10_000 } },
  { provide: CLOCK, useValue: clock },
  { provide: TRUSTED_CLOCK, useValue: clock },
  { provide: AUTHENTICATOR, useValue: everyKey },
  { provide: LOGGER, useValue: { error: () => undefined, warn: () => undefined } },
];
@Module({ imports: [CqrsModule.forRoot()], providers: globals, exports: [CqrsModule, ...globals] })
class Globals {}

let app: NestExpressApplication;
beforeAll(async () => {
  const testing = await Test.createTestingModule({
    imports: [{ module: Globals, global: true }, BillingHttpModule],
    providers: [
      { provide: APP_FILTER, useClass: ProblemFilter },
      { provide: APP_GUARD, useClass: AuthGuard },
      { provide: APP_GUARD, useClass: ScopeGuard },
      { provide: AddressLimiter, useValue: { refusal: async () => null } },
    ],
  }).compile();
  app = testing.createNestApplication<NestExpressApplication>({ bodyParser: false, logger: false });
  configureHttp(app, { TRUSTED_PROXIES: 0 }, pino({ level: 'silent' }));
  observeServer(app.getHttpServer());
  await app.listen(0, '127.0.0.1');
});
afterAll(async () => {
  await app.close();
  await assertObserved();
});

const get = (workspace?: string) => {
  const request = supertest(app.getHttpServer()).get('/api/v1/credits');
  return workspace ? request.set('x-api-key', workspace) : request;
};

describe('GET /api/v1/credits', () => {
  it("answers the caller's credits, with the grants in the order in which they are spent", async () => {
    const commands = app.get(CommandBus);
    await commands.execute(new OpenBook('ws_1', BY));
    await commands.execute(new PurchasePack('ws_1', 'flex', 'o1', BY));
    await commands.execute(new SubscribeToPlan('ws_1', 'studio', null, BY));
    await commands.execute(new ReserveCredits('ws_1', 'reading-1', 'r1', 'theme', true, BY));
    const { status, body, headers } = await get('ws_1');
    expect(status).toBe(200);
    expect(headers['cache-control']).toBe('no-store');
    expect(body).toEqual({
      available: 430,
      reserved: 20,
      grants: [
        {
          grantId: 'plan:sub1:2026-04',
          kind: 'plan',
          credits: 400,
          remaining: 380,
          expiresAt: '2026-05-10T00:00:00.000Z',
        },
        { grantId: 'pack:o1:flex', kind: 'pack', credits: 50, remaining: 50, expiresAt: null },
      ],
    });
  });

  it('is closed without credentials', async () => {
    expect(await get()).toMatchObject({ status: 401, body: { code: 'unauthenticated' } });
  });

  it('is misconfigured for a workspace without a book, and says when to come back', async () => {
    expect(await get('ws_2')).toMatchObject({
      status: 503,
      headers: { 'retry-after': '60' },
      body: { code: 'billing_misconfigured' },
    });
  });
});
