import { expect, it } from '@jest/globals';
import { randomUUID } from 'node:crypto';
import type { Pool } from 'pg';
import { InMemoryEventStore } from '@app/event-sourcing/testing/in-memory-event-store.js';
import type { SubjectKeys } from '@app/platform/crypto/subject-keys.js';
import { InMemoryKeys } from '../../../test/in-memory-keys.js';
import { ReadingQuery } from './reading.query.js';

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
const ids = { workspaceId: 'ws_1', reservationId: ID };

it('tells the end of a reading before its row does, and goes on telling it while the row is behind', async () => {
  const store = new InMemoryEventStore();
  await store.append(`reading-${ID}`, 'no_stream', [
    event('ReadingRequested', {
      ...ids,
      productId: 'theme',
      profileId: 'evan',
      locale: 'fr-FR',
      asOf: '2026-04-12',
      sealedInput: 'c2VhbGVk',
      inputDigest: 'd'.repeat(64),
      idempotencyDigest: null,
      cost: 20,
    }),
    event('ReadingFailed', { ...ids, code: 'input_unprocessable', attempts: 1 }),
  ]);
  let rows: object[] = [];
  const pool = { query: async () => ({ rows }) } as unknown as Pool;
  const statusAs = async (row: object | null, query: ReadingQuery): Promise<string | undefined> => {
    rows = row ? [{ ...BARE_ROW, ...row }] : [];
    return (await query.find(ID))?.record.status;
  };
  const query = new ReadingQuery(pool, store, new InMemoryKeys() as unknown as SubjectKeys);
  expect(await statusAs({ status: 'queued' }, query)).toBe('queued');
  expect(await statusAs(null, query)).toBe('failed');
  expect(await statusAs({ status: 'queued' }, query)).toBe('failed');
  expect(await statusAs({ status: 'processing' }, query)).toBe('failed');
  expect(await statusAs({ status: 'completed' }, query)).toBe('completed');
});
