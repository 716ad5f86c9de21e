import { createHmac, randomUUID } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import { testKeyOf, url } from '../../test/api.js';
import { batchEnded, reading } from '../../test/events.js';
import { eventually } from '../../test/receiver.js';
import { deliveringRequests } from '../../test/webhook-requests.js';

const test = deliveringRequests();
const NOTICES = ['batch.ended'];

interface Delivery {
  readonly deliveryId: string;
  readonly eventId: string;
  readonly type: string;
}
const deliveries = async (query = ''): Promise<readonly Delivery[]> => {
  const { body } = await test.get(`/${test.endpointId}/deliveries${query}`).expect(200);
  return (body as { data: Delivery[] }).data;
};

describe('An endpoint', () => {
  it('is told nothing but events until it asks', async () => {
    const { endpointId } = await test.created({ url });
    expect((await test.get(`/${endpointId}`)).body).toMatchObject({ notices: [] });
    const changed = await test.patch(endpointId, { notices: [...NOTICES, ...NOTICES] }).expect(200);
    expect(changed.body).toMatchObject({ notices: NOTICES });
    expect((await test.patch(endpointId, { notices: [] }).expect(200)).body).toMatchObject({ notices: [] });
    expect(await test.created({ url, notices: NOTICES }, testKeyOf(test.ws))).toMatchObject({
      modes: ['test'],
      notices: NOTICES,
    });
  });

  it.each([
    [['reading.completed'], 'invalid_value', '/notices/0'],
    [['batch.ended', 5], 'invalid_value', '/notices/1'],
    ['batch.ended', 'invalid_type', '/notices'],
    [null, 'invalid_type', '/notices'],
  ])('cannot ask for %j', async (notices, code, pointer) => {
    const { body } = await test.post('', { url, notices }).expect(400);
    expect(body).toMatchObject({ code: 'validation_failed', errors: [{ pointer, code }] });
    await test.patch(test.endpointId, { notices }).expect(400);
  });

  it('cannot subscribe to a notice as if it were an event, nor try one', async () => {
    const { body } = await test.post('', { url, events: NOTICES }).expect(400);
    expect(body).toMatchObject({ code: 'unsupported_event_type' });
    await test.post(`/${test.endpointId}/test`, { type: 'batch.ended' }).expect(400);
  });
});

describe('A notice', () => {
  it('is signed and retried like an event, under a header of its own', async () => {
    const { signingSecret } = await test.created({ url: test.receiver.url, notices: NOTICES });
    test.receiver.answer = (response, _, index) => response.writeHead(index === 0 ? 500 : 204).end();
    await test.happen(batchEnded(randomUUID(), {}, { at: Date.now() }));
    await eventually(() => test.receiver.received.length === 2);
    const [first, second] = test.receiver.received;
    for (const { headers } of [first!, second!]) {
      expect(headers).toMatchObject({ 'x-service-notice': 'batch.ended' });
      expect(headers).not.toHaveProperty('x-service-event');
    }
    expect(second!.body.equals(first!.body)).toBe(true);
    const { headers, body } = second!;
    const { id } = JSON.parse(body.toString()) as { id: string };
    expect([headers['x-service-event-id'], headers['webhook-id']]).toEqual([id, id]);
    const t = headers['x-service-timestamp']!;
    const v1 = createHmac('sha256', signingSecret as string)
      .update(`${t}.`)
      .update(body)
      .digest('hex');
    expect(headers['x-service-signature']).toBe(`t=${t},v1=${v1}`);
  });

  it('is in the list of deliveries, and can be sent again', async () => {
    await test.patch(test.endpointId, { notices: NOTICES }).expect(200);
    const batchId = randomUUID();
    await test.happen(
      reading(randomUUID()).completed({ at: Date.now() }),
      batchEnded(batchId, {}, { at: Date.now() }),
    );
    await test.settled();
    const [notice, ...others] = await deliveries('?type=batch.ended');
    expect(others).toEqual([]);
    expect(notice).toMatchObject({
      type: 'batch.ended',
      readingId: null,
      sequence: 0,
      livemode: true,
      status: 'succeeded',
      lastAttempt: { statusCode: 204 },
    });
    const before = test.receiver.received.length;
    const again = await test
      .post(`/${test.endpointId}/deliveries/${notice!.deliveryId}/redeliver`)
      .expect(202);
    expect(again.body).toMatchObject({ eventId: notice!.eventId, redelivery: true });
    await eventually(() => test.receiver.received.length > before);
    expect(test.receiver.received.at(-1)).toMatchObject({
      headers: { 'x-service-notice': 'batch.ended', 'x-service-redelivery': 'true' },
    });
  });

  it('has a feed of its own, and is in no replay', async () => {
    await test.patch(test.endpointId, { notices: NOTICES }).expect(200);
    await test.happen(batchEnded(randomUUID()));
    const { body } = await test.api.request('get', '/events', test.ws).expect(200);
    expect(body).toMatchObject({ data: [] });
    const feed = (query: string, as = test.ws) => test.api.request('get', `/events?type=${query}`, as);
    const told = (await feed('batch.ended,credits.low').expect(200)).body as {
      data: object[];
      nextCursor: string;
    };
    expect(told).toMatchObject({ data: [{ type: 'batch.ended', livemode: true }], hasMore: false });
    const next = await feed(`batch.ended,credits.low&cursor=${told.nextCursor}`).expect(200);
    expect(next.body).toMatchObject({ data: [] });
    expect((await feed('credits.low').expect(200)).body).toMatchObject({ data: [] });
    expect((await feed('batch.ended', testKeyOf(test.ws)).expect(200)).body).toMatchObject({ data: [] });
    const mixed = await feed('batch.ended,reading.completed').expect(400);
    expect(mixed.body).toMatchObject({ errors: [{ pointer: '?type' }] });
    await feed('endpoint.verification').expect(400);
    await test
      .post(`/${test.endpointId}/replay`, { since: '2026-01-01T00:00:00Z', types: NOTICES })
      .expect(400);
  });
});
