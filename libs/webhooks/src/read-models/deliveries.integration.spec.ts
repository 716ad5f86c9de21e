import { randomUUID } from 'node:crypto';
import { expect, it } from '@jest/globals';
import { DAY_MS, runRetention } from '#platform/retention/retention.js';
import { instant } from '#event-sourcing/core/clock.js';
import { dispatching } from '../../test/dispatching.js';
import { reading } from '../../test/events.js';
import { eventually, ok, status, Receiver } from '../../test/receiver.js';
import { ExportDeliveries } from '../contracts/deliveries.js';
import { DeliveryRows, ExportDeliveriesHandler } from './deliveries.js';
import { whenLocked, webhookRetentions } from '../processes/retention.js';

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
  const rows = new DeliveryRows(test.database.pool);
  const { delivery_id: deliveryId } = (await test.service.deliveries()).find(
    ({ status: is }) => is === 'succeeded',
  )!;
  const record = (await rows.find(endpointId, deliveryId))!;
  expect(await exported(record.settledAt!)).toEqual({ lines: [], count: 0 });
  const { lastAttempt, attempts, nextAttemptAt, ...shown } = record;
  expect([attempts, nextAttemptAt, lastAttempt]).toMatchObject([2, null, { number: 2, error: null }]);
  expect(await exported('2100-01-01T00:00:00Z')).toEqual({
    lines: [{ ...shown, endpointId, workspaceId: 'ws_1', history: await rows.attempts(deliveryId) }],
    count: 1,
  });
});

const NOW = Date.parse('2026-06-01T00:00:00Z');
const NEVER = new AbortController().signal;
const TERMS = {
  WEBHOOK_DELIVERIES_KEPT_DAYS: 90,
  WEBHOOK_EVENTS_KEPT_DAYS: 400,
  TEST_DATA_KEPT_DAYS: 30,
};
const BETWEEN_TRIES_MS = 50;
const OLD = 700;
const WAVES = 20;
const READINGS = 15;

const query = async <Row extends object>(text: string, values: readonly unknown[] = []): Promise<Row[]> =>
  (await test.database.pool.query<Row>(text, [...values])).rows;
const weeks = () =>
  query(`select from pg_class where relname ~ '^settled_delivery_20(19|20)w\\d\\d$' and relispartition`);

/** A week of the past with a partition and deliveries of its own. */
const addOldWeek = async (number: number): Promise<void> => {
  const begins = instant(Date.parse('2019-01-07T00:00:00Z') + number * 7 * DAY_MS);
  // On a slow machine, deliveries hold the table for longer than this waits for it.
  await whenLocked(NEVER, () => query('select webhooks.add_partitions($1, $1)', [begins]), BETWEEN_TRIES_MS);
  await query(
    `insert into webhooks.settled_delivery (delivery_id, endpoint_id, event_id, status, attempts, test, redelivery, created_at,
                                            settled_at)
     select gen_random_uuid(), 'we_a', 'evt_old', 'succeeded', 0, false, false, $1, $1 from generate_series(1, 1000)`,
    [begins],
  );
};
const round = async (): Promise<void> => {
  for (const one of webhookRetentions(test.database.pool, TERMS))
    await runRetention(test.database.pool, one, NOW, NEVER);
};

it('Deliveries go on, in order and once each, while weeks are dropped and events are deleted', async () => {
  test.start({ workers: 2 });
  const other = await Receiver.start();
  try {
    // Before anybody subscribes.
    const old = Array.from({ length: OLD }, () =>
      reading(randomUUID()).completed({ at: NOW - 401 * DAY_MS }),
    );
    await test.service.happen(...old);
    await eventually(async () => (await query('select from webhooks.public_event')).length === OLD);
    await test.service.create(test.receiver.url);
    await test.service.create(other.url);

    const fresh: string[] = [];
    let isOver = false;
    let rounds = 0;
    const retention = (async () => {
      for (; !isOver || rounds < 3; rounds += 1) {
        await addOldWeek(rounds);
        await Promise.all([round(), round()]);
      }
    })();
    const sending = (async () => {
      for (let wave = 0; wave < WAVES; wave += 1) {
        const ids = Array.from({ length: READINGS }, () => randomUUID());
        fresh.push(...ids);
        const of = ids.map((id) => reading(id));
        await test.service.happen(
          ...of.map((one) => one.completed({ at: NOW })),
          ...of.map((one) => one.published({ at: NOW })),
        );
        await eventually(() => test.receiver.received.length >= wave * READINGS);
      }
      await test.settled(2 * 2 * WAVES * READINGS);
    })();
    await sending.finally(() => (isOver = true));
    await retention;

    for (const { received } of [test.receiver, other]) {
      const sequences = new Map<string, number[]>();
      for (const { body } of received) {
        const { readingId, sequence } = JSON.parse(body.toString()) as {
          readingId: string;
          sequence: number;
        };
        sequences.set(readingId, [...(sequences.get(readingId) ?? []), sequence]);
      }
      expect([...sequences.keys()].toSorted()).toEqual(fresh.toSorted());
      expect([...sequences.values()].filter((numbers) => numbers.join() !== '1,2')).toEqual([]);
    }
    expect(await weeks()).toEqual([]);
    expect(await query('select count(*)::integer as kept from webhooks.public_event')).toEqual([
      { kept: 2 * WAVES * READINGS },
    ]);
    expect(await query('select count(*)::integer as numbered from webhooks.last_sequence')).toEqual([
      { numbered: OLD },
    ]);
  } finally {
    await other.stop();
  }
});
