import { describe, expect, it } from '@jest/globals';
import { url } from '../../../test/api.js';
import { webhookRequests } from '../../../test/webhook-requests.js';

const test = webhookRequests();

describe('GET /api/v1/webhooks', () => {
  it('lists the newest first, page by page', async () => {
    const ids: string[] = [];
    for (const description of ['a', 'b', 'c'])
      ids.unshift((await test.created({ url, description })).endpointId);
    const first = (await test.get('?limit=2').expect(200)).body as {
      data: { endpointId: string }[];
      nextCursor: string;
    };
    const second = (await test.get(`?limit=2&cursor=${first.nextCursor}`).expect(200)).body as typeof first;
    expect([...first.data, ...second.data].map(({ endpointId }) => endpointId)).toEqual(ids);
    expect(second.nextCursor).toBeNull();
  });

  it('refuses a cursor that is not its own', async () => {
    for (const description of ['a', 'b']) await test.created({ url, description });
    const { nextCursor } = (await test.get('?limit=1')).body as { nextCursor: string };
    await test.get(`?cursor=${nextCursor}`, 'ws_other').expect(400);
    await test.get('?cursor=nonsense').expect(400);
    await test.get('?cursor=').expect(400);
    await test.get('?limit=0').expect(400);
    await test.get('?limit=101').expect(400);
  });

  it('shows nothing of another workspace', async () => {
    await test.created();
    expect((await test.get('', 'ws_other')).body).toEqual({ data: [], nextCursor: null });
  });
});
