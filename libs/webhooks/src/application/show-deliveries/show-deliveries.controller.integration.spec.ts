import { randomUUID } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import { failure, reading } from '../../../test/events.js';
import { status } from '../../../test/receiver.js';
import { deliveringRequests } from '../../../test/webhook-requests.js';

interface Delivery {
  readonly deliveryId: string;
  readonly readingId: string;
  readonly type: string;
  readonly status: string;
  readonly sequence: number;
}

const test = deliveringRequests();

const get = (path: string) => test.get(`/${test.endpointId}${path}`);
const list = async (query = ''): Promise<readonly Delivery[]> =>
  ((await get(`/deliveries${query}`).expect(200)).body as { data: Delivery[] }).data;

/** Two readings, the first of them failed, then a third while the endpoint is disabled. */
const happenVariously = async (): Promise<readonly [string, string, string]> => {
  const ids = [randomUUID(), randomUUID(), randomUUID()] as const;
  test.receiver.answer = (response, { body }) =>
    body.includes(ids[0]) ? status(500)(response, undefined as never, 0) : response.writeHead(204).end();
  await test.happen(reading(ids[0]).completed({ at: Date.parse('2026-04-02T00:00:00Z') }));
  await test.happen(reading(ids[1]).completed({ at: Date.parse('2026-04-03T00:00:00Z') }));
  await test.happen(reading(ids[1]).published({ at: Date.parse('2026-04-04T00:00:00Z') }));
  await test.settled();
  await test.patch(test.endpointId, { enabled: false });
  await test.happen(...failure(ids[2], Date.parse('2026-04-05T00:00:00Z')));
  return ids;
};

describe('GET …/deliveries', () => {
  it('filters by status, type, reading and time, alone and together', async () => {
    const [one, two, three] = await happenVariously();
    const readings = async (query: string) => (await list(query)).map(({ readingId }) => readingId);
    expect(await readings('')).toEqual([three, two, two, one]);
    expect(await readings('?status=exhausted')).toEqual([one]);
    expect(await readings('?status=exhausted,skipped')).toEqual([three, one]);
    expect(await readings('?type=reading.completed')).toEqual([two, one]);
    expect(await readings(`?readingId=${two}`)).toEqual([two, two]);
    expect(await readings('?since=2026-04-03T00:00:00Z')).toEqual([three, two, two]);
    expect(await readings('?until=2026-04-03T00:00:00Z')).toEqual([one]);
    expect(await readings('?since=2026-04-03T02:00:00%2B02:00&until=2026-04-04T00:00:00Z')).toEqual([two]);
    expect(await readings(`?readingId=${two}&type=reading.published&status=succeeded`)).toEqual([two]);
    expect(await readings(`?readingId=${two}&status=exhausted`)).toEqual([]);
  });

  it('can show only events that have not reached the endpoint by any delivery', async () => {
    const [one, , three] = await happenVariously();
    const undelivered = async () => (await list('?undelivered=true')).map(({ readingId }) => readingId);
    expect(await undelivered()).toEqual([three, one]);
    await test.patch(test.endpointId, { enabled: true });
    test.receiver.answer = (response) => response.writeHead(200).end();
    const [failed] = await list(`?readingId=${one}`);
    await test.post(`/${test.endpointId}/deliveries/${failed!.deliveryId}/redeliver`).expect(202);
    await test.settled();
    expect(await undelivered()).toEqual([three]);
    expect(await list('?undelivered=false')).toHaveLength(5);
  });

  it('continues from a cursor, only with the same filters', async () => {
    await happenVariously();
    const first = (await get('/deliveries?limit=1&type=reading.completed')).body as {
      data: Delivery[];
      nextCursor: string;
    };
    const second = (await get(`/deliveries?type=reading.completed&cursor=${first.nextCursor}`))
      .body as typeof first;
    expect([...first.data, ...second.data].map(({ type }) => type)).toEqual(
      Array(2).fill('reading.completed'),
    );
    expect(second.nextCursor).toBeNull();
    await get(`/deliveries?cursor=${first.nextCursor}`).expect(400);
    await get(`/deliveries?type=reading.failed&cursor=${first.nextCursor}`).expect(400);
  });

  it.each([
    ['status=lost', '?status', 'invalid_value'],
    ['type=ping', '?type', 'unsupported_event_type'],
    ['readingId=1', '?readingId', 'invalid_value'],
    ['since=yesterday', '?since', 'invalid_value'],
    ['until=2026-04-04', '?until', 'invalid_value'],
    ['undelivered=maybe', '?undelivered', 'invalid_value'],
  ])('refuses %s', async (query, pointer, code) => {
    expect((await get(`/deliveries?${query}`).expect(400)).body).toMatchObject({
      errors: [{ pointer, code }],
    });
  });
});

describe('GET …/deliveries/{deliveryId}', () => {
  it('shows every attempt, and of answers only their class and status', async () => {
    test.receiver.answer = status(503);
    await test.happen(reading(randomUUID()).completed({ at: Date.now() }));
    await test.settled();
    const [delivery] = await list();
    const { body, text } = await get(`/deliveries/${delivery!.deliveryId}`).expect(200);
    const attempt = {
      startedAt: expect.stringMatching(/Z$/),
      durationMs: expect.any(Number),
      statusCode: 503,
      error: 'http_error',
    };
    expect(body).toEqual({
      ...delivery,
      history: [
        { number: 1, ...attempt },
        { number: 2, ...attempt },
      ],
    });
    expect(text).not.toContain('answer');
  });

  it('finds none of another endpoint', async () => {
    await test.happen(reading(randomUUID()).completed());
    const [{ deliveryId }] = (await list()) as [Delivery];
    const other = await test.created({ url: test.receiver.url });
    const found = await test.get(`/${other.endpointId}/deliveries/${deliveryId}`).expect(404);
    expect(found.body).toMatchObject({ code: 'delivery_not_found' });
  });
});
