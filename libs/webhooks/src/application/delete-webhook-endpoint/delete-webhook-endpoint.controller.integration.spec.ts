import { describe, expect, it } from '@jest/globals';
import { webhookRequests } from '../../../test/webhook-requests.js';

const test = webhookRequests();

describe('DELETE /api/v1/webhooks/{endpointId}', () => {
  it('removes the endpoint for good', async () => {
    const { endpointId } = await test.created();
    await test.remove(endpointId).expect(204);
    await test.get(`/${endpointId}`).expect(404);
    await test.remove(endpointId).expect(404);
    expect((await test.get('')).body).toEqual({ data: [], nextCursor: null });
  });
});
