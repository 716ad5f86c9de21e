import { expect, it } from '@jest/globals';
import { setTimeout as delay } from 'node:timers/promises';
import type { StoredEvent } from '#event-sourcing/core/event.js';
import { openEventStore } from '#event-sourcing/store/eventstoredb.js';
import { fixture, sharedStack } from '../support/index.js';
import { Integrator, until, untilHandled } from '../support/integrator.js';

/** Longer than a process caches an opened key. */
const KEYS_FORGOTTEN_MS = 2_500;
const NO_DOCUMENT = { available: false, version: null, artifactId: null, publishedAt: null };
const ERASED = { status: 410, body: { code: 'reading_erased' } };

const stack = fixture(sharedStack);
const customer = fixture(() => Integrator.open(stack, 400));
const bearer = fixture(() => customer.bearer('readings:write'));

const get = (readingId: string, path = '') => customer.call('GET', `/api/v1/readings/${readingId}${path}`);
const erase = async (readingId: string): Promise<number> => {
  const { authorization } = bearer;
  const url = `${stack.baseUrl}/api/v1/readings/${readingId}/personal-data`;
  return (await fetch(url, { method: 'DELETE', headers: { authorization } })).status;
};
const rows = async (table: string, readingId: string, and = ''): Promise<number> =>
  (await stack.query(`select from ${table} = $1 ${and}`, [readingId])).length;
const KEYS = 'platform.subject_key where subject_id';
const ARTIFACTS = 'publishing.artifact where reading_id';

const wholeLog = async (): Promise<StoredEvent[]> => {
  const store = await openEventStore({
    connectionString: stack.eventStoreUrl,
    appendTimeoutMs: 30_000,
    readTimeoutMs: 30_000,
  });
  const log: StoredEvent[] = [];
  for await (const event of store.readAll()) log.push(event);
  await store.close();
  return log;
};

/** Until no document of these readings is being made, and every consumer has handled what came of it. */
const untilAtRest = async (...readingIds: readonly string[]): Promise<void> => {
  const beingMade = `select from graphile_worker.jobs where key = 'publishing.publish:' || $1`;
  const isMade = async (readingId: string) => (await stack.query(beingMade, [readingId])).length === 0;
  // What consumers handle makes jobs, and what jobs do is handled by consumers.
  await untilHandled(stack);
  await until(
    async () => (await Promise.all(readingIds.map(isMade))).every(Boolean),
    'the documents are made',
  );
  await untilHandled(stack);
};

it('Erasing leaves nothing stored, offered or announced when it races with completion', async () => {
  const erased: string[] = [];
  for (const afterMs of [0, 30, 100]) {
    const { readingId } = (await customer.create()).body;
    while ((await get(readingId)).body['status'] !== 'completed') await delay(1);
    await delay(afterMs);
    expect([await erase(readingId), await erase(readingId)]).toEqual([204, 204]);
    erased.push(readingId);
  }
  await untilAtRest(...erased);
  await delay(KEYS_FORGOTTEN_MS);
  await stack.ops(['ledger', 'verify', '--workspace', customer.workspaceId]);
  const log = await wholeLog();
  for (const readingId of erased) {
    expect((await get(readingId)).body).toMatchObject({ input: null, document: NO_DOCUMENT });
    expect(await get(readingId, '/document?format=pdf')).toMatchObject(ERASED);
    const results = await rows('readings.result where reading_id', readingId);
    expect([await rows(KEYS, readingId), await rows(ARTIFACTS, readingId), results]).toEqual([0, 0, 0]);
    const types = log.filter(({ stream }) => stream.endsWith(readingId)).map(({ type }) => type);
    expect(types.slice(types.indexOf('ReadingErased'))).not.toContain('DocumentPublished');
    expect(types.indexOf('PublicationWithdrawn')).toBeLessThan(types.indexOf('ReadingErased'));
    const told = await rows(
      'webhooks.public_event where reading_id',
      readingId,
      `and type = 'reading.published'`,
    );
    expect(told).toBe(types.filter((type) => type === 'DocumentPublished').length);
  }
});

it('Erasing needs a confirmation from the operator', async () => {
  const readingId = await customer.published();
  const ops = (...args: string[]) => stack.ops(['erase', ...args]);
  expect(await ops(readingId)).toMatchObject({ outcome: 'not_erased', status: 'completed' });
  expect((await get(readingId)).body['erasedAt']).toBeNull();
  expect(await ops(readingId, '--yes')).toMatchObject({ outcome: 'erased' });
  expect(await ops(readingId, '--yes')).toMatchObject({ outcome: 'already_erased' });
  await expect(ops('00000000-0000-4000-8000-000000000000')).rejects.toThrow(/no reading/);
});
