import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, jest } from '@jest/globals';
import pg from 'pg';
import { TestApi } from '../../test/api.js';
import { startDatabase, type TestDatabase } from '../../test/postgres.js';
import { eventually } from '../../test/receiver.js';
import { wipe } from '../../test/service.js';
import type { ReplayRecord } from '../contracts/deliveries.js';

const WS = 'ws_1';

let database: TestDatabase;
let api: TestApi;
let endpointId: string;
/** Every statement since the last look. */
let statements: string[];

beforeAll(async () => {
  database = await startDatabase();
});
afterAll(() => database.stop());
beforeEach(async () => {
  await wipe(database);
  api = await TestApi.start(database);
  ({ endpointId } = await api.createEndpoint(WS));
  statements = [];
  const { query } = pg.Pool.prototype;
  jest.spyOn(pg.Pool.prototype, 'query').mockImplementation(function (this: pg.Pool, ...given: unknown[]) {
    const [asked] = given as [string | { text: string }];
    statements.push(typeof asked === 'string' ? asked : asked.text);
    return (query as (...all: unknown[]) => never).apply(this, given);
  });
});
afterEach(async () => {
  jest.restoreAllMocks();
  await api.stop();
});

const counting = (what: RegExp): number => statements.filter((text) => what.test(text)).length;
const change = (body: object) => api.request('patch', `/webhooks/${endpointId}`, WS, body).expect(200);

/** Of an endpoint with much history, each count takes as long as many requests. */
describe('What counts deliveries for one token', () => {
  it('counts those that a pause has skipped only when the pause ends', async () => {
    const SKIPPED = /as skipped/;
    await change({ enabled: true });
    expect(counting(SKIPPED)).toBe(0);
    await change({ enabled: false });
    const row = 'select from webhooks.endpoint where endpoint_id = $1 and not enabled';
    await eventually(async () => (await database.pool.query(row, [endpointId])).rowCount === 1);
    expect((await change({ enabled: true })).body).toMatchObject({ skippedDeliveries: 0 });
    expect(counting(SKIPPED)).toBe(1);
  });

  it('counts those of a replay once when it is stopped', async () => {
    const asked = await api.request('post', `/webhooks/${endpointId}/replay`, WS, {
      since: '2026-04-01T00:00:00Z',
    });
    const { replayId } = asked.body as ReplayRecord;
    statements = [];
    await api.request('delete', `/webhooks/${endpointId}/replays/${replayId}`, WS).expect(200);
    expect(counting(/group by status/)).toBe(1);
  });
});
