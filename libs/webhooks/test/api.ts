import { Global, Module } from '@nestjs/common';
import { CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import { APP_FILTER, APP_GUARD, APP_INTERCEPTOR, APP_PIPE } from '@nestjs/core';
import type { NestExpressApplication } from '@nestjs/platform-express';
import { Test } from '@nestjs/testing';
import { pino } from 'pino';
import { randomUUID } from 'node:crypto';
import supertest from 'supertest';
import type { StoredEvent } from '#event-sourcing/core/event.js';
import { runConsumer } from '#event-sourcing/projections/runner.js';
import { EVENT_STORE } from '#event-sourcing/store/event-store.js';
import { InMemoryEventStore } from '#event-sourcing/testing/in-memory-event-store.js';
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
import { PrepareTrialReading } from '#readings/contracts/index.js';
import { assertObserved, observeServer } from '../../../test/support/observe-contract.js';
import { DRY_RUN_WAIT_MS } from '../src/http/replays.js';
import { fanOutConsumer } from '../src/processes/fan-out.consumer.js';
import { WebhooksHttpModule } from '../src/webhooks.module.js';
import type { TestDatabase } from './postgres.js';
import { testConfig } from './service.js';
import { movedTo } from './events.js';

/** The key of a workspace in test mode; in live mode it is the workspace itself. */
export const testKeyOf = (workspaceId: string): string => `${workspaceId}:test`;

/** A live key that is revoked as soon as it has been verified. */
export const endingKeyOf = (workspaceId: string): string => `${workspaceId}:ends:${randomUUID()}`;
const ended = new Set<string>();

/** Accepts every key, which names the workspace, and what kind of key it is: another key of it, if nothing is known of it. */
const everyKey = {
  verifyApiKey: async (apiKey: string): Promise<Principal | null> => {
    if (ended.has(apiKey)) return null;
    const [workspaceId = '', kind] = apiKey.split(':');
    if (kind === 'ends') ended.add(apiKey);
    const mode = kind === 'test' ? 'test' : 'live';
    return {
      authMode: 'apiKey',
      mode,
      sees: [mode],
      workspaceId,
      actor: `apiKey:${kind ?? 'k1'}`,
      scopes: API_KEY_SCOPES,
    };
  },
};

/** The test reading that every trial is about. */
export const TRIAL = {
  readingId: '0c3a9c0a-5f0e-4d5b-8f5e-3f7d2a1b6c90',
  document: { version: 1, artifactId: 'art_trial', publishedAt: '2026-04-04T09:31:00.000Z' },
};

@CommandHandler(PrepareTrialReading)
class TrialReading implements ICommandHandler<PrepareTrialReading> {
  async execute() {
    return { outcome: 'ready', ...TRIAL } as const;
  }
}

@Global()
@Module({ providers: [{ provide: AUTHENTICATOR, useValue: everyKey }], exports: [AUTHENTICATOR] })
class AuthenticationModule {}

export const url = 'https://receiver.example/hook';

type Body = Record<string, unknown>;

/** The module's HTTP interface on a real database, as the API process serves it, with the fan-out running. */
export class TestApi {
  private readonly stopped = new AbortController();
  private following: Promise<void> | undefined;

  private constructor(
    readonly database: TestDatabase,
    readonly app: NestExpressApplication,
    readonly store: InMemoryEventStore,
  ) {}

  static async start(
    database: TestDatabase,
    settings: Readonly<Record<string, string>> = {},
    store = new InMemoryEventStore(),
  ): Promise<TestApi> {
    const config = testConfig(database, {
      WEBHOOK_ALLOW_CIDRS: '',
      WEBHOOK_ALLOW_HTTP: '0',
      ...settings,
    });
    const log = pino({ level: 'silent' });
    const module = await Test.createTestingModule({
      imports: [PlatformModule.forProcess(config, log), AuthenticationModule, WebhooksHttpModule],
      providers: [
        { provide: APP_FILTER, useClass: ProblemFilter },
        { provide: APP_GUARD, useClass: AuthGuard },
        { provide: APP_GUARD, useClass: ScopeGuard },
        IdempotentRequests,
        { provide: APP_INTERCEPTOR, useClass: JsonBodyInterceptor },
        { provide: APP_INTERCEPTOR, useClass: IdempotencyInterceptor },
        { provide: APP_PIPE, useClass: BodyPipe },
        TrialReading,
      ],
    })
      .overrideProvider(EVENT_STORE)
      .useValue(store)
      .overrideProvider(DRY_RUN_WAIT_MS)
      .useValue(1)
      .compile();
    const app = module.createNestApplication<NestExpressApplication>({ bodyParser: false, logger: false });
    configureHttp(app, config, log);
    observeServer(app.getHttpServer());
    await app.listen(0, '127.0.0.1');
    const api = new TestApi(database, app, store);
    api.following = runConsumer(fanOutConsumer(0), { store, pool: database.pool, log }, api.stopped.signal);
    return api;
  }

  async stop(): Promise<void> {
    this.stopped.abort();
    await this.following;
    await this.app.close();
    await assertObserved();
  }

  request(method: 'get' | 'post' | 'patch' | 'delete', path: string, as: string, body?: object) {
    return supertest(this.app.getHttpServer())[method](`/api/v1${path}`).set('x-api-key', as).send(body);
  }

  async createEndpoint(as: string, body: object = { url }): Promise<Body & { endpointId: string }> {
    return (await this.request('post', '/webhooks', as, body).expect(201)).body as Body & {
      endpointId: string;
    };
  }

  /** Appends events of other modules for this workspace, and waits until the fan-out has handled them. */
  async happen(workspaceId: string, ...events: readonly StoredEvent[]): Promise<void> {
    for (const given of events) {
      const { id, stream, type, data, metadata } = movedTo(workspaceId, given);
      const length = this.store.log.filter((known) => known.stream === stream).length;
      const event = { id, type, data, metadata };
      await this.store.append(stream, length === 0 ? 'no_stream' : BigInt(length - 1), [event]);
    }
    const last = this.store.log.at(-1)!.position;
    for (;;) {
      const { rowCount } = await this.database.pool.query(
        `select from event_sourcing.consumer where name = 'webhooks.fanout.v1' and position >= $1`,
        [String(last)],
      );
      if (rowCount === 1) return;
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
  }
}
