import { beforeAll, expect, it } from '@jest/globals';
import { countingRowsRead } from '../../../../test/support/rows-read.js';
import { testPool } from '../../../../test/support/test-pool.js';
import { InMemoryEventStore } from '#event-sourcing/testing/in-memory-event-store.js';
import { Digester } from '#platform/crypto/digest.js';
import type { SubjectKeys } from '#platform/crypto/subject-keys.js';
import { SHOWN_COLUMNS } from '../projections.js';
import { externalIdLookup } from '../sealed-reading.js';
import { ReadingQuery, selectPage, type ListFilters } from './reading.query.js';

const READINGS = 20_000;
const PAGE = 51;
const NONE: ListFilters = { status: null, externalId: null, createdSince: null, createdUntil: null };
/** A list reads at most so many rows at one step of its plan. */
const MOST = 4 * PAGE;
/** Of an external id. */
const LOOKED_AT = 2_000;

const pool = testPool();

beforeAll(async () => {
  // One a minute: few are test readings, few are unfinished, none of the live ones has failed.
  await pool.query(
    `insert into readings.reading (reading_id, workspace_id, livemode, status, product_id, profile_id, locale,
       sealed_input, created_at, updated_at, due_at, correlation_id)
     select gen_random_uuid(), 'ws_1', n % 100 <> 0, case when n % 997 = 0 then 'queued' else 'completed' end, 'theme',
       'evan', 'en-US', repeat('x', 400), now() - make_interval(mins => n), now(), null, 'req_1'
     from generate_series(1, $1) as n`,
    [READINGS],
  );
  await pool.query('analyze readings.reading');
});

it.each<[string, boolean, Partial<ListFilters>]>([
  ['nothing', true, {}],
  ['test readings', false, {}],
  ['failed ones, which are rare', true, { status: 'failed' }],
  ['failed test readings', false, { status: 'failed' }],
  ['unfinished ones', true, { status: 'queued' }],
  ['completed ones', true, { status: 'completed' }],
  ['an age', true, { createdUntil: new Date(Date.now() - 10_000 * 60_000).toISOString() }],
])('a page filtered by %s reads few rows, however many readings there are', async (_, livemode, given) => {
  const filters = { ...NONE, ...given };
  const { text, values } = selectPage(SHOWN_COLUMNS, 'ws_1', livemode, filters, null, PAGE, null);
  const counting = countingRowsRead(pool);
  await counting.pool.query(text, values);
  expect(counting.mostRowsRead()).toBeLessThanOrEqual(MOST);
});

it('a page of an external id that many readings have reads few of them, and the pages have all', async () => {
  const digester = new Digester(Buffer.alloc(32).toString('base64'));
  // Every second one of the oldest 10,000, some of them test readings.
  await pool.query(
    `insert into platform.subject_key (subject_id, workspace_id, wrapped_key, lookups)
     select reading_id, 'ws_1', '', array[case when n > 10000 and n % 2 = 0 then $1 else uuid_send(reading_id) end]
     from (select reading_id, row_number() over (order by created_at desc) as n from readings.reading) each`,
    [externalIdLookup(digester, 'ws_1', 'same')],
  );
  await pool.query('analyze platform.subject_key');
  const counting = countingRowsRead(pool);
  const keys = { find: async () => null } as unknown as SubjectKeys;
  const query = new ReadingQuery(counting.pool, new InMemoryEventStore(), keys, digester);
  const found = new Set<string>();
  const limit = 400;
  for (
    let after: readonly string[] | null = null, isFirst = true;
    isFirst || after !== null;
    isFirst = false
  ) {
    const page = await query.page('ws_1', true, { ...NONE, externalId: 'same' }, limit, after);
    for (const { row } of page.readings) found.add(row.reading_id);
    const last = page.readings.at(-1)?.row;
    const full = page.readings.length === limit && last ? [last.created_at, last.reading_id] : null;
    after = page.after ?? full;
  }
  expect(found.size).toBe(4_900);
  expect(counting.mostRowsRead()).toBeLessThanOrEqual(LOOKED_AT);
});

it('the newest test reading with documents is found without those that have none', async () => {
  const counting = countingRowsRead(pool);
  const none = undefined as never;
  const query = new ReadingQuery(counting.pool, new InMemoryEventStore(), none, none);
  expect(await query.newestPublishedTest('ws_1')).toBeNull();
  await pool.query(
    `update readings.reading set document_version = 1
     where reading_id in (select reading_id from readings.reading where not livemode order by created_at limit 2)`,
  );
  expect(await query.newestPublishedTest('ws_1')).toMatchObject({ document_version: 1 });
  expect(counting.mostRowsRead()).toBe(1);
});
