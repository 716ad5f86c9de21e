import { randomUUID } from 'node:crypto';
import { beforeEach, expect, it } from '@jest/globals';
import { webhookRequests } from '../../../test/webhook-requests.js';
import { DeliveryRows, type DeliveryFilter } from '../deliveries.js';

/** Above the number of events whose deliveries are looked up one by one. */
const MANY = 1_100;
const COMMON = 3_000;
const MOST = 10_000;

const test = webhookRequests();
let endpointId: string;

const added = async (
  type: string,
  count: number,
  workspaceId = test.ws,
  readingId: string | null = null,
): Promise<readonly string[]> => {
  const { rows } = await test.database.pool.query<{ delivery_id: string }>(
    `with event as (
       insert into webhooks.public_event (event_id, workspace_id, reading_id, type, sequence, body, occurred_at)
       select 'evt_' || gen_random_uuid(), $1, coalesce($5::uuid, gen_random_uuid()), $2, 1, '{}', now()
       from generate_series(1, $3::int) returning event_id)
     insert into webhooks.settled_delivery
       (delivery_id, endpoint_id, event_id, status, attempts, test, redelivery, created_at, settled_at)
     select gen_random_uuid(), $4, event_id, 'succeeded', 1, false, false, date_trunc('milliseconds', now()), now() from event
     returning delivery_id`,
    [workspaceId, type, count, endpointId, readingId],
  );
  return rows.map((row) => row.delivery_id);
};

/** One page. */
const page = (filter: Partial<DeliveryFilter>, after: readonly string[] | null = null, limit = MOST) =>
  new DeliveryRows(test.database.pool).page(endpointId, limit, after, {
    statuses: null,
    types: null,
    readingId: null,
    since: null,
    until: null,
    undelivered: false,
    modes: ['live'],
    ...filter,
  });

/** All pages. */
const listed = async (filter: Partial<DeliveryFilter>): Promise<readonly string[]> => {
  const ids: string[] = [];
  for (let after: readonly string[] | null = null; ;) {
    const found = await page(filter, after);
    ids.push(...found.records.map(({ deliveryId }) => deliveryId));
    if (found.after === null) return ids;
    after = found.after;
  }
};

beforeEach(async () => {
  await test.database.pool.query('truncate webhooks.public_event, webhooks.settled_delivery');
  ({ endpointId } = await test.created());
  await added('reading.completed', COMMON);
});

it('Few deliveries of a type are found among many others, those of this workspace alone', async () => {
  const failed = await added('reading.failed', 2);
  const delayed = await added('reading.delayed', 1);
  await added('reading.failed', 1, 'ws_else');
  expect((await listed({ types: ['reading.failed'] })).toSorted()).toEqual(failed.toSorted());
  expect(await listed({ types: ['reading.delayed'] })).toEqual(delayed);
  expect(await listed({ types: ['credits.low'] })).toEqual([]);
  expect(await listed({ types: ['reading.failed', 'reading.completed'] })).toHaveLength(COMMON + 3);
});

it('Many deliveries of a type that is rare elsewhere are all found', async () => {
  await added('reading.failed', MANY);
  expect(await listed({ types: ['reading.failed'] })).toHaveLength(MANY);
});

it('A reading without events has no deliveries', async () => {
  expect(await listed({ readingId: randomUUID() })).toEqual([]);
});

it('A reading with many events, such as trials, has its own deliveries alone', async () => {
  const readingId = randomUUID();
  const own = await added('reading.published', MANY, test.ws, readingId);
  expect((await listed({ readingId })).toSorted()).toEqual(own.toSorted());
});

it('A page looks at a thousand deliveries, and says where the list goes on', async () => {
  const { deliveryId } = (await page({}, null, 1)).records[0]!;
  await test.database.pool.query(
    `update webhooks.settled_delivery set status = 'exhausted', created_at = created_at - interval '1 day'
     where delivery_id = $1`,
    [deliveryId],
  );
  const first = await page({ statuses: ['succeeded', 'exhausted'], modes: ['test'] });
  expect([first.records, first.after]).toEqual([[], expect.any(Array)]);
  const pages = [first];
  while (pages.at(-1)!.after !== null)
    pages.push(await page({ statuses: ['succeeded', 'exhausted'], modes: ['test'] }, pages.at(-1)!.after));
  expect(pages.map(({ records }) => records.length)).toEqual([0, 0, 0, 0]);
  expect(await listed({ statuses: ['exhausted'] })).toEqual([deliveryId]);
});
