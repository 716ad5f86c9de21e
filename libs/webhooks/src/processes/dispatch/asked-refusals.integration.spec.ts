import { randomUUID } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import { reading, testReading } from '../../../test/events.js';
import { dispatching } from '../../../test/dispatching.js';

const test = dispatching();
const BOTH = { modes: ['live', 'test'] as const };
const health = async () =>
  (await test.database.pool.query<object>('select * from webhooks.endpoint_health')).rows;

describe('The webhooks of a test reading that asks for refusals', () => {
  it('are refused as often as it asks, then delivered, and harm no endpoint', async () => {
    test.start({ asksForRefusal: (attempt) => attempt <= 2 });
    await test.service.create(test.receiver.url, BOTH);
    await test.service.happen(testReading(randomUUID()).completed());
    await test.settled(1);
    expect(await test.service.attempts()).toEqual([
      { number: 1, status_code: 503, error: 'asked_refusal' },
      { number: 2, status_code: 503, error: 'asked_refusal' },
      { number: 3, status_code: 204, error: null },
    ]);
    expect(test.receiver.received).toHaveLength(1);
    expect(test.receiver.received[0]!.headers).toMatchObject({ 'x-service-attempt': '3' });
    expect(await health()).toEqual([]);
  });

  it('are given up when it asks for all, and hold up nothing else', async () => {
    test.start({ asksForRefusal: () => true });
    await test.service.create(test.receiver.url, BOTH);
    const live = randomUUID();
    const tested = Array.from({ length: 12 }, () => testReading(randomUUID()).completed());
    await test.service.happen(...tested, reading(live).completed());
    await test.settled(13);
    const deliveries = await test.service.deliveries();
    expect(
      deliveries.filter(({ status, attempts }) => status === 'exhausted' && attempts === 4),
    ).toHaveLength(12);
    expect(test.receiver.received.map(({ body }) => body.toString().includes(live))).toEqual([true]);
    expect(await health()).toEqual([]);
  });
});
