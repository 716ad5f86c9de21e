import { randomUUID } from 'node:crypto';
import { readFile, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { projectPath } from '#platform/project-path.js';
import { replayTask } from '../src/application/replay/replay.job.js';
import { TestApi } from './api.js';
import { reading } from './events.js';
import { startDatabase, type TestDatabase } from './postgres.js';
import { wipe } from './service.js';

const WS = 'ws_1';
const SOURCES = projectPath('libs/webhooks/src');

let database: TestDatabase;
let api: TestApi;
let endpointId: string;
let deliveryId: string;

beforeAll(async () => {
  database = await startDatabase();
});
afterAll(() => database.stop());
afterEach(() => api.stop());
beforeEach(async () => {
  await wipe(database);
  // Nothing sends: a queue stays as the insert left it.
  api = await TestApi.start(database);
  ({ endpointId } = await api.createEndpoint(WS));
  await api.happen(WS, reading(randomUUID()).completed());
  // Sent; nothing is pending.
  const { rows } = await database.pool.query<{ delivery_id: string }>(
    `update webhooks.delivery set status = 'succeeded', attempts = 1, settled_at = now() returning delivery_id`,
  );
  deliveryId = rows[0]!.delivery_id;
  await database.pool.query(`update webhooks.lane set ready_at = 'infinity'`);
});

const post = (path: string, body: object = {}) =>
  api.request('post', `/webhooks/${endpointId}${path}`, WS, body).expect(202);
const replay = async (): Promise<void> => {
  const { body } = await post('/replay', { since: '2026-04-01T00:00:00Z', statuses: ['succeeded'] });
  const { replayId } = body as { replayId: string };
  await replayTask(database.pool, { now: Date.now }).handle({ replayId }, new AbortController().signal);
};
const readyQueues = async (): Promise<number> =>
  (await database.pool.query(`select from webhooks.lane where ready_at <= now() + interval '1 second'`))
    .rowCount ?? 0;

describe('The workspace queue of inserted deliveries', () => {
  it.each([
    ['an event', () => api.happen(WS, reading(randomUUID()).completed())],
    ['a test event', () => post('/test')],
    ['a redelivery', () => post(`/deliveries/${deliveryId}/redeliver`)],
    ['a replay', replay],
  ])('is ready after %s', async (_, insert) => {
    expect(await readyQueues()).toBe(0);
    await insert();
    expect(await readyQueues()).toBe(1);
  });

  it('is created with the first delivery of a workspace', async () => {
    await database.pool.query('delete from webhooks.lane');
    await api.happen(WS, reading(randomUUID()).completed());
    expect(await readyQueues()).toBe(1);
  });

  it('stays idle when its endpoint is disabled: inserted deliveries are skipped', async () => {
    await api.request('patch', `/webhooks/${endpointId}`, WS, { enabled: false }).expect(200);
    await api.happen(WS, reading(randomUUID()).completed());
    await post('/test');
    await post(`/deliveries/${deliveryId}/redeliver`);
    expect(await readyQueues()).toBe(0);
  });

  it('is made ready by every statement that inserts deliveries', async () => {
    const files = (await readdir(SOURCES, { recursive: true })).filter((file) =>
      /(?<!\.spec)\.ts$/.test(file),
    );
    const inserting: [string, number, number][] = [];
    for (const file of files) {
      const text = await readFile(join(SOURCES, file), 'utf8');
      const inserts = text.match(/insert into webhooks\.delivery\b/g)?.length ?? 0;
      if (inserts > 0) inserting.push([file, inserts, text.match(/\$\{markQueuesReady\(/g)?.length ?? 0]);
    }
    expect(inserting.length).toBeGreaterThanOrEqual(4);
    for (const [file, inserts, calls] of inserting) expect([file, calls]).toEqual([file, inserts]);
  });
});
