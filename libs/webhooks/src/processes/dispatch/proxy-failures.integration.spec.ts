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

const REFUSED = 'HTTP/1.1 407 Proxy Authentication Required\r\ncontent-length: 0\r\n\r\n';
const DELIVERIES = 30;

it('While our own proxy fails, deliveries wait, no schedule ends, and no endpoint is harmed; then all go out', async () => {
  proxy.refusal = REFUSED;
  test.start({
    settings: {
      WEBHOOK_PROXY_URL: proxy.url(),
      WEBHOOK_DISABLE_AFTER_MS: '1',
      WEBHOOK_RETRY_SCHEDULE_MS: '0',
    },
  });
  const { endpointId } = await test.service.create(test.receiver.url);
  for (let n = 0; n < DELIVERIES; n += 1) await test.service.happen(reading(randomUUID()).completed());
  // The first, and one after 1, 2 and 4 s.
  await eventually(async () => (await test.service.attempts()).length >= 4);
  const attempts = await test.service.attempts();
  expect(attempts.length).toBeLessThanOrEqual(6);
  expect(attempts.filter(({ error }) => error !== 'proxy_failed')).toEqual([]);
  expect((await test.service.deliveries()).map(({ status }) => status)).toEqual(
    Array(DELIVERIES).fill('pending'),
  );
  expect(await health()).toEqual([]);
  expect((await test.service.rows.find(endpointId))!.record.enabled).toBe(true);
  const { rows } = await test.database.pool.query(
    'select outcome, sum(attempts)::integer as attempts from webhooks.endpoint_hour group by outcome',
  );
  expect(rows).toEqual([{ outcome: 'proxy_failed', attempts: attempts.length }]);
  expect(test.receiver.received).toEqual([]);

  proxy.refusal = null;
  // Those that were tried wait for their next attempt.
  await test.database.pool.query('update webhooks.delivery set due_at = now() where attempts > 0');
  await test.settled(DELIVERIES);
  expect((await test.service.deliveries()).map(({ status }) => status)).toEqual(
    Array(DELIVERIES).fill('succeeded'),
  );
  expect(test.receiver.received).toHaveLength(DELIVERIES);
});
