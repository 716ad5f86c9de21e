import { randomUUID } from 'node:crypto';
import { afterAll, afterEach, beforeAll, beforeEach } from '@jest/globals';
import type { StoredEvent } from '#event-sourcing/core/event.js';
import { TestApi, url } from './api.js';
import { startDatabase, type TestDatabase } from './postgres.js';
import { Receiver, eventually } from './receiver.js';
import { TestService } from './service.js';

/** Requests to /api/v1/webhooks, by default of a workspace of the test's own. */
export class WebhookRequests {
  database!: TestDatabase;
  api!: TestApi;
  ws!: string;

  post(path: string, body?: object, as = this.ws) {
    return this.api.request('post', `/webhooks${path}`, as, body);
  }

  get(path: string, as = this.ws) {
    return this.api.request('get', `/webhooks${path}`, as);
  }

  patch(id: string, body: object, as = this.ws) {
    return this.api.request('patch', `/webhooks/${id}`, as, body);
  }

  remove(id: string, as = this.ws) {
    return this.api.request('delete', `/webhooks/${id}`, as);
  }

  /** Appends events of other modules for the workspace, and waits until the fan-out has handled them. */
  happen(...events: readonly StoredEvent[]) {
    return this.api.happen(this.ws, ...events);
  }

  created(body: object = { url }, as = this.ws) {
    return this.api.createEndpoint(as, body);
  }
}

/** For the specs of one file: one API and database, and a workspace for each test. */
export const webhookRequests = (settings: Readonly<Record<string, string>> = {}): WebhookRequests =>
  started(new WebhookRequests(), settings);

const started = <Requests extends WebhookRequests>(
  test: Requests,
  settings: Readonly<Record<string, string>>,
): Requests => {
  beforeAll(async () => {
    test.database = await startDatabase();
    test.api = await TestApi.start(test.database, settings);
  });
  afterAll(async () => {
    await test.api.stop();
    await test.database.stop();
  });
  beforeEach(() => {
    test.ws = `ws_${randomUUID().replaceAll('-', '').slice(0, 22)}`;
  });
  return test;
};

/** The same with an endpoint, its receiver, and a worker that sends each delivery twice at most. */
export class DeliveringRequests extends WebhookRequests {
  receiver!: Receiver;
  sending!: TestService;
  endpointId!: string;

  /** Waits until no delivery to the endpoint is pending. */
  settled(): Promise<void> {
    return eventually(async () => {
      const { body } = await this.get(`/${this.endpointId}/deliveries?status=pending`).expect(200);
      return (body as { data: unknown[] }).data.length === 0;
    });
  }
}

/** For the specs of one file: as `webhookRequests`, with a receiver and a worker for each test. */
export const deliveringRequests = (): DeliveringRequests => {
  const test = started(new DeliveringRequests(), {
    WEBHOOK_ALLOW_CIDRS: '127.0.0.0/8',
    WEBHOOK_ALLOW_HTTP: '1',
  });
  beforeEach(async () => {
    test.receiver = await Receiver.start();
    test.sending = new TestService(test.database, { settings: { WEBHOOK_RETRY_SCHEDULE_MS: '0,20' } });
    test.sending.dispatch();
    ({ endpointId: test.endpointId } = await test.created({ url: test.receiver.url }));
  });
  afterEach(async () => {
    await test.sending.stop();
    await test.receiver.stop();
  });
  return test;
};
