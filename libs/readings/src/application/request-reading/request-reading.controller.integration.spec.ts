import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { APP_FILTER, APP_GUARD, APP_INTERCEPTOR, APP_PIPE } from '@nestjs/core';
import { CommandBus } from '@nestjs/cqrs';
import type { NestExpressApplication } from '@nestjs/platform-express';
import { Test } from '@nestjs/testing';
import { pino } from 'pino';
import request from 'supertest';
import { assertObserved, observeServer } from '../../../../../test/support/observe-contract.js';
import { StoreUnavailable } from '#event-sourcing/store/errors.js';
import { AUTHENTICATOR, type Authenticator } from '#platform/auth/authentication.js';
import { API_KEY_SCOPES } from '#platform/auth/scopes.js';
import { AuthGuard, ScopeGuard } from '#platform/auth/auth.guard.js';
import { AddressLimiter } from '#platform/rate-limit/address-limiter.js';
import { BodyPipe } from '#platform/http/body.pipe.js';
import { PageCursors } from '#platform/http/page-cursor.js';
import { CONFIG, LOGGER } from '#platform/tokens.js';
import { configureHttp } from '#platform/http/configure-http.js';
import { JsonBodyInterceptor } from '#platform/http/json-body.interceptor.js';
import { ProblemFilter } from '#platform/http/problem.filter.js';
import type { RequestReading, RequestReadingResult } from './request-reading.command.js';
import { ReadingsInFlight } from '../../read-models/reading/in-flight.js';
import { ReadingQuery } from '../../read-models/reading/reading.query.js';
import { RequestReadingController } from './request-reading.controller.js';

const body = {
  productId: 'theme',
  profileId: 'evan',
  locale: 'fr-FR',
  name: { firstNames: ['Zoé'], middleNames: [], lastNames: ['Lefèvre'] },
  dateOfBirth: '1990-04-12',
  grammaticalProfile: { subjectGender: 'Woman' },
};

let app: NestExpressApplication;
/** The result of accepting a reading in the current test. */
let accept: (command: RequestReading) => Promise<RequestReadingResult>;
let admits = true;

beforeAll(async () => {
  const log = pino({ level: 'silent' });
  const authenticator: Authenticator = {
    verifyApiKey: async (apiKey) => {
      const mode = apiKey === 'test' ? 'test' : 'live';
      return {
        authMode: 'apiKey',
        mode,
        sees: [mode],
        workspaceId: 'ws_1',
        actor: 'apiKey:k',
        scopes: API_KEY_SCOPES,
      };
    },
    verifyBearer: async () => null,
  };
  const testing = await Test.createTestingModule({
    controllers: [RequestReadingController],
    providers: [
      { provide: CommandBus, useValue: { execute: (command: RequestReading) => accept(command) } },
      { provide: ReadingQuery, useValue: {} },
      { provide: PageCursors, useValue: {} },
      {
        provide: ReadingsInFlight,
        useValue: { admit: async () => (admits ? { at: 0 } : null), withdrawn: () => undefined },
      },
      { provide: CONFIG, useValue: { READINGS_IN_FLIGHT: 1_000 } },
      { provide: AUTHENTICATOR, useValue: authenticator },
      { provide: LOGGER, useValue: log },
      { provide: APP_FILTER, useClass: ProblemFilter },
      { provide: APP_GUARD, useClass: AuthGuard },
      { provide: APP_GUARD, useClass: ScopeGuard },
      { provide: AddressLimiter, useValue: { refusal: async () => null } },
      { provide: APP_INTERCEPTOR, useClass: JsonBodyInterceptor },
      { provide: APP_PIPE, useClass: BodyPipe },
    ],
  }).compile();
  app = testing.createNestApplication<NestExpressApplication>({ bodyParser: false, logger: false });
  configureHttp(app, { TRUSTED_PROXIES: 0 }, log);
  await app.init();
  observeServer(app.getHttpServer());
});

afterAll(async () => {
  await app.close();
  await assertObserved();
});

const post = () => request(app.getHttpServer()).post('/api/v1/readings').set('x-api-key', 'k').send(body);

describe('POST /api/v1/readings', () => {
  it('passes on the input as it was sent, and its sender', async () => {
    let seen: RequestReading | undefined;
    accept = async (command) => {
      seen = command;
      return { outcome: 'different_request' };
    };
    await post().set('idempotency-key', 'order-7');
    const { productId: _productId, profileId: _profileId, locale: _locale, ...input } = body;
    expect(seen).toMatchObject({
      workspaceId: 'ws_1',
      idempotencyKey: 'order-7',
      request: { productId: 'theme', profileId: 'evan', locale: 'fr-FR', input },
      by: { actor: 'apiKey:k', correlationId: expect.stringMatching(/^req_/) },
    });
  });

  it('answers 503 billing_misconfigured when the workspace cannot be billed', async () => {
    accept = async () => ({ outcome: 'billing_misconfigured' });
    const answer = await post();
    expect([answer.status, (answer.body as { code: string }).code]).toEqual([503, 'billing_misconfigured']);
    expect(answer.headers['retry-after']).toBe('60');
  });

  it('answers 503 enqueue_unavailable when a store is unavailable', async () => {
    accept = () => Promise.reject(new StoreUnavailable('away', true));
    const answer = await post();
    expect([answer.status, (answer.body as { code: string }).code]).toEqual([503, 'enqueue_unavailable']);
    expect(answer.headers['retry-after']).toBe('5');
  });

  it('answers 500 to an unexpected error, and shows none of its details', async () => {
    accept = () => Promise.reject(new Error('secret detail of the inside'));
    const answer = await post();
    expect([answer.status, (answer.body as { code: string }).code]).toEqual([500, 'internal_error']);
    expect(answer.text).not.toMatch(/secret|inside|\.ts|\.js/);
  });

  it('answers 429 to a workspace with too many unfinished readings, without trying to accept one', async () => {
    admits = false;
    accept = () => Promise.reject(new Error('it tried to accept one'));
    const { status, body, headers } = await post();
    admits = true;
    expect([status, body.code, headers['retry-after']]).toEqual([429, 'rate_limited', '10']);
  });

  describe('with an outcome asked for', () => {
    const ask = (outcome: string, key = 'test') =>
      post()
        .set('x-api-key', key)
        .send({ ...body, metadata: { test_outcome: outcome } });

    it.each([
      ['insufficient_credits', 402, 'insufficient_credits', undefined],
      ['rate_limited', 429, 'rate_limited', '1'],
      ['unavailable', 503, 'enqueue_unavailable', '5'],
      ['billing_misconfigured', 503, 'billing_misconfigured', '60'],
    ])('is refused at once: %s', async (outcome, status, code, retryAfter) => {
      accept = () => Promise.reject(new Error('it tried to accept one'));
      const answer = await ask(outcome);
      expect([answer.status, answer.body.code, answer.headers['retry-after']]).toEqual([
        status,
        code,
        retryAfter,
      ]);
    });

    it('passes an outcome of the worker on', async () => {
      accept = async ({ request: { input } }) => {
        expect(input.metadata).toEqual({ test_outcome: 'slow:5' });
        return { outcome: 'different_request' };
      };
      expect((await ask('slow:5')).body.code).toBe('idempotency_key_reused');
    });

    it.each([
      ['of no known name', 'slow:61', 'test', /must be one of failed:generation_failed, .*delayed/],
      ['in live mode', 'unavailable', 'k', /test keys alone/],
    ])('is 400 %s', async (_, outcome, key, detail) => {
      const answer = await ask(outcome, key);
      expect(answer.status).toBe(400);
      expect(answer.body.errors).toEqual([
        { pointer: '/metadata/test_outcome', code: 'invalid_value', detail: expect.stringMatching(detail) },
      ]);
    });
  });
});
