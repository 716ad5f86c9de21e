import { randomUUID } from 'node:crypto';
import { afterEach, beforeEach, expect, it } from '@jest/globals';
import { dispatching } from '../../../test/dispatching.js';
import { reading } from '../../../test/events.js';
import { Proxy } from '../../../test/proxy.js';
import { eventually } from '../../../test/receiver.js';

const test = dispatching();
const health = async () =>
  (await test.database.pool.query<object>('select * from webhooks.endpoint_health')).rows;

let proxy: Proxy;
beforeEach(async () => {
  proxy = await Proxy.start();
});
afterEach(() => proxy.stop());

it('Attempts that our own proxy fails are made again, also after the schedule; they count in the figures and harm no endpoint', async () => {
  proxy.refusal = 'HTTP/1.1 407 Proxy Authentication Required\r\ncontent-length: 0\r\n\r\n';
  test.start({ settings: { WEBHOOK_PROXY_URL: proxy.url(), WEBHOOK_DISABLE_AFTER_MS: '1' } });
  const { endpointId } = await test.service.create(test.receiver.url);
  // As many as make an endpoint that is only probed.
  for (let n = 0; n < 10; n += 1) await test.service.happen(reading(randomUUID()).completed());
  const inAll = 10 * test.service.config.WEBHOOK_RETRY_SCHEDULE_MS.length;
  await eventually(async () => (await test.service.attempts()).length === inAll);
  expect((await test.service.attempts()).filter(({ error }) => error === 'proxy_failed')).toHaveLength(inAll);
  expect((await test.service.deliveries()).map(({ status }) => status)).toEqual(Array(10).fill('pending'));
  expect(await health()).toEqual([]);
  expect((await test.service.rows.find(endpointId))!.record.enabled).toBe(true);
  const { rows } = await test.database.pool.query(
    'select outcome, sum(attempts)::integer as attempts from webhooks.endpoint_hour group by outcome',
  );
  expect(rows).toEqual([{ outcome: 'proxy_failed', attempts: inAll }]);
  expect(test.receiver.received).toEqual([]);

  proxy.refusal = null;
  await test.database.pool.query('update webhooks.delivery set due_at = now()');
  await test.database.pool.query('update webhooks.lane set ready_at = now()');
  await test.settled(10);
  expect((await test.service.deliveries()).map(({ status }) => status)).toEqual(Array(10).fill('succeeded'));
  expect(test.receiver.received).toHaveLength(10);
});
