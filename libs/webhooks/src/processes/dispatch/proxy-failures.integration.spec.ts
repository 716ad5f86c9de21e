import { randomUUID } from 'node:crypto';
import { expect, it } from '@jest/globals';
import { dispatching } from '../../../test/dispatching.js';
import { reading } from '../../../test/events.js';

const test = dispatching();
const health = async () =>
  (await test.database.pool.query<object>('select * from webhooks.endpoint_health')).rows;

it('Attempts that our own proxy fails are made again, count in the figures, and harm no endpoint', async () => {
  test.start({
    settings: { WEBHOOK_PROXY_URL: 'http://127.0.0.1:1', WEBHOOK_DISABLE_AFTER_MS: '1' },
  });
  const { endpointId } = await test.service.create(test.receiver.url);
  // As many as make an endpoint that is only probed.
  for (let n = 0; n < 10; n += 1) await test.service.happen(reading(randomUUID()).completed());
  await test.settled(10);
  const attempts = await test.service.attempts();
  expect(attempts.filter(({ error }) => error === 'proxy_failed')).toHaveLength(attempts.length);
  expect(attempts.length).toBeGreaterThanOrEqual(20);
  expect(await health()).toEqual([]);
  expect((await test.service.rows.find(endpointId))!.record.enabled).toBe(true);
  const { rows } = await test.database.pool.query(
    'select outcome, sum(attempts)::integer as attempts from webhooks.endpoint_hour group by outcome',
  );
  expect(rows).toEqual([{ outcome: 'proxy_failed', attempts: attempts.length }]);
  expect(test.receiver.received).toEqual([]);
});
