import { expect, it } from '@jest/globals';
import { randomUUID } from 'node:crypto';
import type { Pool } from 'pg';
import { InMemoryEventStore } from '#event-sourcing/testing/in-memory-event-store.js';
import { Digester } from '#platform/crypto/digest.js';
import type { SubjectKeys } from '#platform/crypto/subject-keys.js';
import { KeyNotHeld } from '#platform/crypto/wrapping-keys.js';
import { InMemoryKeys } from '../../test/in-memory-keys.js';
import { REQUEST } from '../../test/readings.js';
import { CountReadings, GetExternalId } from '../contracts/messages.js';
import { CountReadingsHandler, GetExternalIdHandler, ReadingQuery } from './reading.query.js';

const ID = '7f9c24e8-3b12-4f5e-9c1a-2d8e6b0a4c11';
const AT = '2026-04-12T10:00:00.000Z';
const event = (type: string, data: object) => ({
  id: randomUUID(),
  type,
  data,
  metadata: {
    correlationId: 'req_1',
    causationId: 'req_1',
    workspaceId: 'ws_1',
    actor: 'system:spec',
    occurredAt: AT,
    schemaVersion: 1,
  },
});
const BARE_ROW = {
  reading_id: ID,
  created_at: new Date(AT),
  updated_at: new Date(AT),
  completed_at: null,
  failed_at: null,
  published_at: null,
  erased_at: null,
};
const ids = { workspaceId: 'ws_1', livemode: true, reservationId: ID };
const requested = event('ReadingRequested', REQUEST);
const failed = event('ReadingFailed', { ...ids, code: 'input_unprocessable', attempts: 1 });
const queryOf = (store: InMemoryEventStore, pool: unknown = null): ReadingQuery =>
  new ReadingQuery(pool as Pool, store, new InMemoryKeys() as unknown as SubjectKeys, null as never);

it('shows the end of a reading before its row does, and still does while the row is behind', async () => {
  const store = new InMemoryEventStore();
  await store.append(`reading-${ID}`, 'no_stream', [requested, failed]);
  let rows: object[] = [];
  const statusAs = async (row: object | null, query: ReadingQuery): Promise<string | undefined> => {
    rows = row ? [{ ...BARE_ROW, ...row }] : [];
    return (await query.find(ID))?.status;
  };
  const query = queryOf(store, { query: async () => ({ rows }) });
  expect(await statusAs(null, query)).toBe('failed');
  expect(await statusAs({ status: 'queued' }, query)).toBe('failed');
  expect(await statusAs({ status: 'completed' }, query)).toBe('completed');
});

it('shows the history in whole pages, without abandoned reservations', async () => {
  const store = new InMemoryEventStore();
  const abandoned = () =>
    event('ReadingAbandoned', { ...ids, reservationId: randomUUID(), reason: 'unavailable' });
  await store.append(`reading-${ID}`, 'no_stream', [
    abandoned(),
    requested,
    event('ReadingStarted', { attempt: 1, workerId: 'w', leaseUntil: AT }),
    abandoned(),
    failed,
  ]);
  const history = async (from: number, limit: number) =>
    (await queryOf(store).history(ID, from, limit)).map(({ revision, type }) => [revision, type]);
  expect(await history(0, 10)).toEqual([
    [0, 'requested'],
    [1, 'started'],
    [2, 'failed'],
  ]);
  expect(await history(0, 2)).toEqual([
    [0, 'requested'],
    [1, 'started'],
  ]);
  expect(await history(2, 2)).toEqual([[2, 'failed']]);
  expect(await history(3, 2)).toEqual([]);
});

it('reports that this process lacks its key, and is shown without its input among others', async () => {
  const store = new InMemoryEventStore();
  await store.append(`reading-${ID}`, 'no_stream', [requested]);
  const find = () => Promise.reject(new KeyNotHeld('No encryption key named k2 is configured'));
  const pool = { query: async () => ({ rows: [] }) } as unknown as Pool;
  const query = new ReadingQuery(pool, store, { find } as unknown as SubjectKeys, null as never);
  const stored = (await query.find(ID))!;
  await expect(query.input(stored)).rejects.toBeInstanceOf(KeyNotHeld);
  expect(await query.soundInput(stored)).toBeNull();
  // A webhook, or an event of the feed, would say for ever that there is no external id.
  const asked = new GetExternalIdHandler(query).execute(new GetExternalId(ID));
  await expect(asked).rejects.toBeInstanceOf(KeyNotHeld);
});

it('is not missing in a search by its external id because this process lacks its key', async () => {
  const find = () => Promise.reject(new KeyNotHeld('No encryption key named k2 is configured'));
  const query = new ReadingQuery(
    { query: async () => ({ rows: [{ ...BARE_ROW, status: 'completed' }] }) } as unknown as Pool,
    new InMemoryEventStore(),
    { find } as unknown as SubjectKeys,
    new Digester(Buffer.alloc(32).toString('base64')),
  );
  const none = { status: null, createdSince: null, createdUntil: null };
  const page = (externalId: string | null) => query.page('ws_1', true, { ...none, externalId }, 10, null);
  expect(await page(null)).toMatchObject({ readings: [{ input: null }] });
  await expect(page('order-4711')).rejects.toBeInstanceOf(KeyNotHeld);
});

it('shows the erasure with the missing input, while the row shows only the failure', async () => {
  const store = new InMemoryEventStore();
  await store.append(`reading-${ID}`, 'no_stream', [
    requested,
    failed,
    event('ReadingErased', { workspaceId: 'ws_1' }),
  ]);
  const rows = [{ ...BARE_ROW, status: 'failed', failed_at: new Date(AT) }];
  const query = queryOf(store, { query: async () => ({ rows }) });
  const stored = (await query.find(ID))!;
  expect(stored.erased_at).toBeNull();
  expect(await query.opened(stored)).toMatchObject({
    row: { status: 'failed', erased_at: AT },
    input: null,
  });
});

it('counts the readings of a workspace once for all pages that ask, and again after twenty times as long', async () => {
  const asked: unknown[] = [];
  const query = async (_text: string, [workspaceId]: readonly unknown[]) => {
    asked.push(workspaceId);
    await new Promise((resolve) => setTimeout(resolve, 100));
    return { rows: [{ day: '2026-04-12', readings: asked.length }] };
  };
  const handler = new CountReadingsHandler({ query } as unknown as Pool);
  const of = (workspaceId: string, livemode: boolean) =>
    handler.execute(new CountReadings(workspaceId, livemode, '2026-04-01T00:00:00.000Z'));
  const counted = await Promise.all(Array.from({ length: 60 }, () => of('ws_1', true)));
  expect(new Set(counted.map(([day]) => day!.readings))).toEqual(new Set([1]));
  await of('ws_1', true);
  expect(asked).toEqual(['ws_1']);
  expect([await of('ws_1', false), await of('ws_2', true)]).toMatchObject([
    [{ readings: 2 }],
    [{ readings: 3 }],
  ]);
  while ((await of('ws_1', true))[0]!.readings === 1) await new Promise((resolve) => setTimeout(resolve, 50));
  expect(asked).toHaveLength(4);
});
