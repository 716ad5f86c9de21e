import { randomUUID } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import { dispatching } from '../../../test/dispatching.js';
import { reading } from '../../../test/events.js';
import { eventually, ok, status } from '../../../test/receiver.js';
import { TestService } from '../../../test/service.js';
import { OutcomeLog } from './outcome-log.js';
import { WorkspaceLeases } from './workspace-leases.js';

const test = dispatching();

const leases = async (): Promise<readonly (string | null)[]> => {
  const { rows } = await test.database.pool.query<{ lease: string | null }>(
    'select lease from webhooks.workspace_lease',
  );
  return rows.map(({ lease }) => lease);
};

describe('A worker', () => {
  it('takes over from a worker that was killed, once its lease expires', async () => {
    test.service = new TestService(test.database);
    test.service.follow();
    await test.service.create(test.receiver.url);
    await test.service.happen(reading(randomUUID()).completed());
    await eventually(async () => (await test.service.deliveries()).length === 1);
    const leases = new WorkspaceLeases(test.database.pool, 1_000);
    const now = Date.now();
    const [lost, other] = [randomUUID(), randomUUID()].map((lease) => ({ workspaceId: 'ws_1', lease }));
    expect(await leases.due(now)).toEqual(['ws_1']);
    const [endpoint] = (await leases.take([lost!], now)).get('ws_1')!;
    expect(await leases.due(now)).toEqual([]);
    expect(await leases.take([other!], now)).toEqual(new Map());
    const answers: (() => void)[] = [];
    test.receiver.answer = (response) => void answers.push(() => response.writeHead(204).end());
    test.service.dispatch();
    await eventually(() => test.receiver.received.length === 1);
    expect(test.receiver.received[0]!.headers['x-service-attempt']).toBe('1');
    // The worker was late, not dead.
    const deliveryId = (await test.service.deliveries())[0]!.delivery_id;
    const { endpointId, url } = endpoint!;
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
    await eventually(() => test.receiver.received.length === 1);
    expect(await leases()).toEqual([expect.any(String)]);
    await test.service.stop();
    expect(await leases()).toEqual([null]);
    test.receiver.answer = ok;
    test.start();
    await test.settled(1);
    expect(test.receiver.received).toHaveLength(2);
  });

  it('gives up a workspace whose failing endpoint has nothing to send', async () => {
    test.start({ settings: { WEBHOOK_RETRY_SCHEDULE_MS: '0' } });
    test.receiver.answer = status(500);
    await test.service.create(test.receiver.url);
    for (let n = 0; n < 10; n += 1) await test.service.happen(reading(randomUUID()).completed());
    await test.settled(10);
    await eventually(async () => (await leases())[0] === null);
  });
});
