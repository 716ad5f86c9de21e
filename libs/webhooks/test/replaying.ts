import { afterEach, beforeEach } from '@jest/globals';
import type { ReplayRecord } from '../src/contracts/index.js';
import { replayTask } from '../src/application/replay.js';
import { TestApi } from './api.js';
import { testDatabase } from './postgres.js';
import { Receiver, eventually } from './receiver.js';
import { TestService, wipe } from './service.js';

export const WS = 'ws_1';
export const SINCE = '2026-04-01T00:00:00Z';
export const DAY = (n: number): number => Date.parse(`2026-04-${String(n).padStart(2, '0')}T12:00:00Z`);
/** A signal that never aborts. */
export const NEVER = new AbortController().signal;

/** An API, a worker that sends, and a receiver, for tests of replays. */
export class Replaying {
  readonly database = testDatabase();
  api!: TestApi;
  sending!: TestService;
  receiver!: Receiver;

  ask(endpointId: string, body: object, headers: Record<string, string> = {}) {
    return this.api.request('post', `/webhooks/${endpointId}/replay`, WS, body).set(headers);
  }

  async find({ endpointId, replayId }: ReplayRecord): Promise<ReplayRecord> {
    return (await this.api.request('get', `/webhooks/${endpointId}/replays/${replayId}`, WS).expect(200))
      .body as ReplayRecord;
  }

  async accepted(endpointId: string, body: object = {}): Promise<ReplayRecord> {
    return (await this.ask(endpointId, { since: SINCE, ...body }).expect(202)).body as ReplayRecord;
  }

  /** Runs its job as the worker does. */
  work({ replayId }: ReplayRecord, pool = this.database.pool): Promise<void> {
    return replayTask(pool, { now: () => Date.now() }).handle({ replayId }, NEVER);
  }

  /** Requests a replay, runs its job, and waits until none of its deliveries is pending. */
  async replay(endpointId: string, body: object): Promise<ReplayRecord> {
    const asked = await this.accepted(endpointId, body);
    await this.work(asked);
    await eventually(async () => (await this.find(asked)).deliveries.pending === 0);
    return this.find(asked);
  }

  async endpoint(): Promise<string> {
    return (await this.api.createEndpoint(WS, { url: this.receiver.url })).endpointId;
  }

  enable(endpointId: string, enabled: boolean) {
    return this.api.request('patch', `/webhooks/${endpointId}`, WS, { enabled }).expect(200);
  }

  settled(): Promise<void> {
    return eventually(async () =>
      (await this.sending.deliveries()).every(({ status: is }) => is !== 'pending'),
    );
  }

  /** The readings of what arrived, in this order. */
  arrivals(): readonly string[] {
    return this.receiver.received.map(
      ({ body }) => (JSON.parse(body.toString('utf8')) as { readingId: string }).readingId,
    );
  }
}

/** For the specs of one file: a database, emptied before each test; everything else is new for each test. */
export const replaying = (): Replaying => {
  const test = new Replaying();
  beforeEach(async () => {
    await wipe(test.database);
    test.receiver = await Receiver.start();
    test.api = await TestApi.start(test.database, {
      WEBHOOK_ALLOW_CIDRS: '127.0.0.0/8',
      WEBHOOK_ALLOW_HTTP: '1',
    });
    test.sending = new TestService(test.database, {
      settings: { WEBHOOK_RETRY_SCHEDULE_MS: '0' },
      concurrency: { perEndpoint: 1, perWorkspace: 25 },
    });
    test.sending.dispatch();
  });
  afterEach(async () => {
    await test.sending.stop();
    await test.api.stop();
    await test.receiver.stop();
  });
  return test;
};
