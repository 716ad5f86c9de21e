import { randomUUID } from 'node:crypto';
import { expect, it } from '@jest/globals';
import { pino } from 'pino';
import { ClockUntrusted } from '@app/event-sourcing/core/trusted-clock.js';
import { testKeyOf, url } from '../../../test/api.js';
import { reading, testReading } from '../../../test/events.js';
import { webhookRequests } from '../../../test/webhook-requests.js';
import { forgetTestEvents, sweepTestEvents } from './test-event-sweep.js';
import { ALL_DELIVERIES } from '../../read-models/delivery/settled-sql.js';

const test = webhookRequests();
/** When the events of the helpers happened. */
const HAPPENED = Date.parse('2026-04-04T09:30:00Z');
const DAY_MS = 86_400_000;

const EVENTS = 'webhooks.public_event event';
const DELIVERIES = `${ALL_DELIVERIES} join ${EVENTS} using (event_id)`;
const readingsOf = async (table: string): Promise<string[]> => {
  const { rows } = await test.database.pool.query<{ reading_id: string }>(
    `select event.reading_id from ${table} where workspace_id = $1`,
    [test.ws],
  );
  return rows.map((row) => row.reading_id);
};

it('deletes old events of test readings with their deliveries, and no live ones', async () => {
  await test.created({ url, modes: ['live', 'test'] });
  const [live, tested] = [randomUUID(), randomUUID()];
  await test.happen(reading(live).completed(), testReading(tested).completed());
  expect(await forgetTestEvents(test.database.pool, HAPPENED)).toBe(0);
  expect(await forgetTestEvents(test.database.pool, HAPPENED + 1)).toBe(1);
  expect(await readingsOf(EVENTS)).toEqual([live]);
  expect(await readingsOf(DELIVERIES)).toEqual([live]);
  const { body } = await test.api.request('get', '/events', testKeyOf(test.ws)).expect(200);
  expect(body).toMatchObject({ data: [] });
});

it('deletes nothing while the clocks cannot be trusted, and keeps as many days as set', async () => {
  const tested = randomUUID();
  await test.happen(testReading(tested).completed());
  const round = async (now: () => number): Promise<string[]> => {
    const stopping = new AbortController();
    const clock = {
      now: async () => {
        setTimeout(() => stopping.abort(), 300);
        return now();
      },
    };
    const log = pino({ level: 'silent' });
    await sweepTestEvents(test.database.pool, clock, { TEST_DATA_KEPT_DAYS: 3 }, log).run(stopping.signal);
    return readingsOf(EVENTS);
  };
  const untrusted = () => {
    throw new ClockUntrusted('the clocks differ');
  };
  expect(await round(untrusted)).toEqual([tested]);
  expect(await round(() => HAPPENED + 3 * DAY_MS)).toEqual([tested]);
  expect(await round(() => HAPPENED + 3 * DAY_MS + 1)).toEqual([]);
});
