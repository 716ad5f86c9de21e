import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, beforeEach } from '@jest/globals';
import { TestApi, url } from './api.js';
import { startDatabase, type TestDatabase } from './postgres.js';

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

  created(body: object = { url }, as = this.ws) {
    return this.api.createEndpoint(as, body);
  }
}

/** For the specs of one file: one API and database, and a workspace for each test. */
export const webhookRequests = (): WebhookRequests => {
  const test = new WebhookRequests();
  beforeAll(async () => {
    test.database = await startDatabase();
    test.api = await TestApi.start(test.database);
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
