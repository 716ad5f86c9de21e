import { randomUUID } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import { dispatching } from '../../../test/dispatching.js';
import { reading } from '../../../test/events.js';
import { eventually, ok, status } from '../../../test/receiver.js';
import { TestService } from '../../../test/service.js';
import { OutcomeLog } from './outcome-log.js';
import { WorkspaceQueues } from './workspace-queues.js';

const test = dispatching();

describe('A worker', () => {
  it('takes over from a worker that was killed, once its lease expires', async () => {
    test.service = new TestService(test.database);
    test.service.follow();
    await test.service.create(test.receiver.url);
    await test.service.happen(reading(randomUUID()).completed());
    await eventually(async () => (await test.service.deliveries()).length === 1);
    const queues = new WorkspaceQueues(test.database.pool, 1_000);
    const now = Date.now();
    const [lost] = await queues.claim(1, now);
    expect(await queues.claim(1, now)).toEqual([]);
    const answers: (() => void)[] = [];
    test.receiver.answer = (response) => void answers.push(() => response.writeHead(204).end());
    test.service.dispatch();
    await eventually(() => test.receiver.received.length === 1);
    expect(test.receiver.received[0]!.headers['x-service-attempt']).toBe('1');
    // The worker was late, not dead.
    const deliveryId = (await test.service.deliveries())[0]!.delivery_id;
    const { endpointId, url } = lost!.endpoints[0]!;
    const result = { error: 'timeout' as const, statusCode: null, retryAfterMs: null, responseBody: null };
    const late = {
      deliveryId,
      endpointId,
      url,
      lease: lost!.lease,
      number: 1,
      redelivery: false,
      result,
      answer: null,
    };
    await new OutcomeLog(test.database.pool).failed({ ...late, startedAt: 0, endedAt: 0 }, null);
    expect(await test.service.deliveries()).toMatchObject([{ status: 'pending', attempts: 0 }]);
    for (const answer of answers) answer();
    await test.settled(1);
    expect(await test.service.deliveries()).toMatchObject([{ status: 'succeeded', attempts: 1 }]);
  });

  it('finishes the attempts in flight when it is stopped', async () => {
    test.start();
    let answer = (): void => undefined;
    test.receiver.answer = (response) => (answer = () => response.writeHead(200).end());
    await test.service.create(test.receiver.url);
    await test.service.happen(reading(randomUUID()).completed());
    await eventually(() => test.receiver.received.length === 1);
    const stopped = test.service.stop();
    await test.service.happen(reading(randomUUID()).completed());
    answer();
    await stopped;
    expect((await test.service.deliveries()).map(({ status: is }) => is)).toEqual(['succeeded']);
    expect(test.receiver.received).toHaveLength(1);
  });

  it('releases its deliveries when it is stopped before the response, for others to send at once', async () => {
    test.start();
    test.receiver.answer = () => undefined;
    await test.service.create(test.receiver.url);
    await test.service.happen(reading(randomUUID()).completed());
    const leased = async (): Promise<string | null> => {
      const { rows } = await test.database.pool.query<{ lease: string | null }>(
        'select lease from webhooks.delivery',
      );
      return rows[0]?.lease ?? null;
    };
    // It is detached first, and then its worker stops.
    await eventually(async () => (await leased()) !== null);
    await test.service.stop();
    expect(await leased()).toBeNull();
    test.receiver.answer = ok;
    test.start();
    await test.settled(1);
    expect(test.receiver.received).toHaveLength(2);
  });

  it('does not claim a workspace whose failing endpoint has nothing to send', async () => {
    test.start({ settings: { WEBHOOK_RETRY_SCHEDULE_MS: '0' } });
    test.receiver.answer = status(500);
    await test.service.create(test.receiver.url);
    for (let n = 0; n < 10; n += 1) await test.service.happen(reading(randomUUID()).completed());
    await test.settled(10);
    await eventually(async () => {
      const { rows } = await test.database.pool.query(
        `select from webhooks.lane where ready_at = 'infinity' and lease is null`,
      );
      return rows.length === 1;
    });
  });
});
