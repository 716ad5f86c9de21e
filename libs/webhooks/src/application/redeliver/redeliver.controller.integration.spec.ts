import { describe, expect, it } from '@jest/globals';
import { url } from '../../../test/api.js';
import { webhookRequests } from '../../../test/webhook-requests.js';

const test = webhookRequests();

describe('POST …/redeliver', () => {
  it('sends a test event again, as a delivery of its own', async () => {
    const { endpointId } = await test.created();
    const tried = (await test.post(`/${endpointId}/test`, { type: 'reading.failed' }).expect(202)).body as {
      deliveryId: string;
    };
    expect(tried).toMatchObject({
      type: 'reading.failed',
      test: true,
      redelivery: false,
      status: 'pending',
      attempts: 0,
    });
    const again = (await test.post(`/${endpointId}/deliveries/${tried.deliveryId}/redeliver`).expect(202))
      .body as typeof tried;
    expect(again).toMatchObject({ redelivery: true, test: true });
    const first = (await test.get(`/${endpointId}/deliveries?limit=1`).expect(200)).body as {
      data: { deliveryId: string }[];
      nextCursor: string;
    };
    const second = (await test.get(`/${endpointId}/deliveries?limit=1&cursor=${first.nextCursor}`))
      .body as typeof first;
    expect([...first.data, ...second.data].map(({ deliveryId }) => deliveryId)).toEqual([
      again.deliveryId,
      tried.deliveryId,
    ]);
    await test.post(`/${endpointId}/test`, { type: 'ping' }).expect(400);
    await test.get(`?cursor=${first.nextCursor}`).expect(400);
  });

  it('finds no delivery of another endpoint', async () => {
    const [mine, theirs] = [await test.created(), await test.created({ url }, 'ws_theirs')];
    const { deliveryId } = (await test.post(`/${theirs.endpointId}/test`, {}, 'ws_theirs')).body as {
      deliveryId: string;
    };
    const found = await test.post(`/${mine.endpointId}/deliveries/${deliveryId}/redeliver`).expect(404);
    expect(found.body).toMatchObject({ code: 'delivery_not_found' });
    await test.post(`/${mine.endpointId}/deliveries/nonsense/redeliver`).expect(404);
  });
});
