import { randomUUID } from 'node:crypto';
import { beforeEach, expect, it } from '@jest/globals';
import { webhookRequests } from '../../../test/webhook-requests.js';
import { DeliveryRows, type DeliveryFilter } from './delivery-rows.js';

/** Above the number of events whose deliveries are looked up one by one. */
const MANY = 1_100;
const COMMON = 3_000;

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
     select gen_random_uuid(), $4, event_id, 'succeeded', 1, false, false, now(), now() from event
     returning delivery_id`,
    [workspaceId, type, count, endpointId, readingId],
  );
  return rows.map((row) => row.delivery_id);
};

const listed = async (filter: Partial<DeliveryFilter>, limit = 10) => {
  const { records } = await new DeliveryRows(test.database.pool).page(endpointId, limit, null, {
    statuses: null,
    types: null,
    readingId: null,
    since: null,
    until: null,
    undelivered: false,
    modes: ['live'],
    ...filter,
  });
  return records.map(({ deliveryId }) => deliveryId);
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
  expect(await listed({ types: ['reading.failed', 'reading.completed'] }, COMMON + 10)).toHaveLength(
    COMMON + 3,
  );
});

it('Many deliveries of a type that is rare elsewhere are all found', async () => {
  await added('reading.failed', MANY);
  expect(await listed({ types: ['reading.failed'] }, MANY + 10)).toHaveLength(MANY);
});

it('A reading without events has no deliveries', async () => {
  expect(await listed({ readingId: randomUUID() })).toEqual([]);
});

it('A reading with many events, such as trials, has its own deliveries alone', async () => {
  const readingId = randomUUID();
  const own = await added('reading.published', MANY, test.ws, readingId);
  expect((await listed({ readingId }, COMMON + MANY)).toSorted()).toEqual(own.toSorted());
});
