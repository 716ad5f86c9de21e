import { Module } from '@nestjs/common';
import { CommandBus, CqrsModule } from '@nestjs/cqrs';
import { afterAll, beforeAll, describe, expect, it, beforeEach } from '@jest/globals';
import { APP_FILTER, APP_GUARD } from '@nestjs/core';
import type { NestExpressApplication } from '@nestjs/platform-express';
import { Test } from '@nestjs/testing';
import { pino } from 'pino';
import supertest from 'supertest';
import { Digester } from '#platform/crypto/digest.js';
import { EVENT_STORE } from '#event-sourcing/store/event-store.js';
import { InMemoryEventStore } from '#event-sourcing/testing/in-memory-event-store.js';
import { AuthGuard, ScopeGuard } from '#platform/auth/auth.guard.js';
import { AddressLimiter } from '#platform/rate-limit/address-limiter.js';
import { AUTHENTICATOR, type Principal } from '#platform/auth/authentication.js';
import { API_KEY_SCOPES } from '#platform/auth/scopes.js';
import { configureHttp } from '#platform/http/configure-http.js';
import { ProblemFilter } from '#platform/http/problem.filter.js';
import { POSTGRES, openPool } from '#platform/postgres/pool.js';
import { CLOCK, CONFIG, LOGGER, TRUSTED_CLOCK } from '#platform/tokens.js';
import { ReserveCredits } from '#readings/contracts/index.js';
import type pg from 'pg';
import { assertObserved, observeServer } from '../../../../test/support/observe-contract.js';
import { BillingHttpModule } from '../billing-http.module.js';
import { OpenBook, PurchasePack, SubscribeToPlan } from '../contracts/index.js';
import { freshDatabase } from '../../../../test/support/fresh-database.js';
import type { StartedPostgres } from '../../../../test/support/start-postgres.js';
import { FindExpiringGrants, FindLowBalances } from '../contracts/queries.js';
import { FindExpiringGrantsHandler, FindLowBalancesHandler } from './get-credits.js';

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

describe('scarce credits', () => {
  let postgres: StartedPostgres;
  let pool: pg.Pool;
  beforeAll(async () => {
    postgres = await freshDatabase();
    pool = openPool(postgres.databaseUrl, { size: 2, applicationName: 'scarce', onError: () => undefined });
  });
  afterAll(async () => {
    await pool.end();
    await postgres.stop();
  });
  beforeEach(async () => {
    await pool.query('truncate billing.balance');
  });

  const book = (
    workspaceId: string,
    available: number,
    toppedUpTo: number | null,
    agenda: object = { grants: [] },
    mode = 'live',
  ) =>
    pool.query(
      `insert into billing.balance (workspace_id, mode, available, granted, revision, due_at, updated_at, topped_up_to, topped_up_by, agenda)
     values ($1, $5, $2, $2, 1, '2026-04-30T00:00:00Z', now(), $3, 'g', $4)`,
      [workspaceId, available, toppedUpTo, JSON.stringify(agenda), mode],
    );
  const low = async (percent: number) =>
    new FindLowBalancesHandler(pool).execute(new FindLowBalances(percent, ''));

  describe('Low balances', () => {
    it('are below the share, and of books that know their last top-up', async () => {
      await book('ws_low', 39, 400);
      await book('ws_at_the_mark', 40, 400);
      await book('ws_unknown', 0, null);
      await book('ws_unknown', 39, 400, {}, 'test');
      expect(await low(10)).toEqual({
        found: [{ workspaceId: 'ws_low', available: 39, toppedUpTo: 400, toppedUpBy: 'g' }],
        next: null,
      });
    });

    it('come in pages without a gap', async () => {
      for (let n = 0; n < 501; n += 1) await book(`ws_${String(n).padStart(4, '0')}`, 0, 400);
      const first = await low(10);
      expect([first.found.length, first.next]).toEqual([500, 'ws_0499']);
      const rest = await new FindLowBalancesHandler(pool).execute(new FindLowBalances(10, first.next!));
      expect(rest).toMatchObject({ found: [{ workspaceId: 'ws_0500' }], next: null });
    });
  });

  describe('Expiring grants', () => {
    it('have credits left, and expire within the time', async () => {
      const grant = (grantId: string, remaining: number, expiresAt: string) => ({
        grantId,
        remaining,
        expiresAt,
      });
      await book('ws_1', 50, 400, {
        grants: [
          grant('soon', 20, '2026-04-30T00:00:00.000Z'),
          grant('used', 0, '2026-04-30T00:00:00.000Z'),
          grant('later', 30, '2026-05-30T00:00:00.000Z'),
          grant('over', 10, '2026-04-20T00:00:00.000Z'),
        ],
      });
      const ofTestBook = [grant('of a test book', 20, '2026-04-30T00:00:00.000Z')];
      await book('ws_1', 50, 400, { grants: ofTestBook }, 'test');
      const { found } = await new FindExpiringGrantsHandler(pool).execute(
        new FindExpiringGrants('2026-04-24T00:00:00.000Z', '2026-05-01T00:00:00.000Z', ''),
      );
      expect(found).toEqual([
        { workspaceId: 'ws_1', grantId: 'soon', remaining: 20, expiresAt: '2026-04-30T00:00:00.000Z' },
      ]);
    });
  });
});
