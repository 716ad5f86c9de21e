import { randomUUID } from 'node:crypto';
import { expect, it } from '@jest/globals';
import { MODES } from '#event-sourcing/core/request-context.js';
import { dispatching } from '../../test/dispatching.js';
import { reading } from '../../test/events.js';
import { eventually, ok, status } from '../../test/receiver.js';
import { ExportDeliveries } from '../contracts/index.js';
import { deliveryWithHistory, pageOfDeliveries } from './deliveries.js';
import { ExportDeliveriesHandler } from '../read-models/deliveries.js';

const test = dispatching();

const exported = async (until: string): Promise<{ lines: object[]; count: number }> => {
  const parts: Buffer[] = [];
  const handler = new ExportDeliveriesHandler(test.database.pool);
  const count = await handler.execute(new ExportDeliveries(until, (part) => void parts.push(part)));
  const text = Buffer.concat(parts).toString('utf8');
  const lines = text.split('\n').slice(0, -1);
  return { lines: lines.map((one) => JSON.parse(one) as object), count };
};

it('An export has each delivery settled before, with all attempts, as the API shows them', async () => {
  test.start();
  test.receiver.answer = (response, received, index) =>
    (index === 0 ? status(500) : ok)(response, received, index);
  const { endpointId } = await test.service.create(test.receiver.url);
  const readingId = randomUUID();
  await test.service.happen(reading(readingId).completed());
  await test.settled(1);
  test.receiver.answer = () => undefined;
  await test.service.happen(reading(randomUUID()).completed());
  await eventually(() => test.receiver.received.length === 3);
  const { delivery_id: deliveryId } = (await test.service.deliveries()).find(
    ({ status: is }) => is === 'succeeded',
  )!;
  const record = (await deliveryWithHistory(test.database.pool, endpointId, deliveryId))!;
  expect(await exported(record.settledAt!)).toEqual({ lines: [], count: 0 });
  const { lastAttempt, attempts, nextAttemptAt, ...shown } = record;
  expect([attempts, nextAttemptAt, lastAttempt]).toMatchObject([2, null, { number: 2, error: null }]);
  expect(await exported('2100-01-01T00:00:00Z')).toEqual({
    lines: [{ ...shown, endpointId, workspaceId: 'ws_1' }],
    count: 1,
  });
});

it('The deliveries of a reading with more trials than are looked at have those of its facts', async () => {
  test.start();
  const { endpointId } = await test.service.create(test.receiver.url);
  const readingId = randomUUID();
  await test.service.happen(reading(readingId).completed());
  await test.settled(1);
  await test.database.pool.query(
    `insert into webhooks.public_event (event_id, workspace_id, livemode, reading_id, type, sequence, body, occurred_at)
     select 'evt_' || gen_random_uuid(), 'ws_1', false, $1::uuid, 'reading.completed', 0, '{}', now()
     from generate_series(1, 3000)`,
    [readingId],
  );
  const any = { statuses: null, types: null, since: null, until: null, undelivered: false };
  const filter = { ...any, readingId, modes: MODES };
  const { records } = await pageOfDeliveries(test.database.pool, endpointId, 10, null, filter);
  expect(records).toMatchObject([{ status: 'succeeded', test: false }]);
});
