import { randomUUID } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import { url } from '../../test/api.js';
import { webhookRequests } from '../../test/webhook-requests.js';

const test = webhookRequests();

describe('An endpoint', () => {
  const routes = (id: string, as: string) => [
    test.get(`/${id}`, as),
    test.patch(id, {}, as),
    test.remove(id, as),
    test.post(`/${id}/rotate-secret`, {}, as),
    test.post(`/${id}/test`, {}, as),
    test.get(`/${id}/deliveries`, as),
    test.post(`/${id}/deliveries/${randomUUID()}/redeliver`, {}, as),
    test.get(`/${id}/health`, as),
    test.get(`/${id}/deliveries/${randomUUID()}`, as),
    test.post(`/${id}/replay`, { since: '2026-04-01T00:00:00Z' }, as),
    test.get(`/${id}/replays/${randomUUID()}`, as),
  ];

  it('of another workspace is forbidden on every route', async () => {
    const { endpointId } = await test.created({ url }, 'ws_owner');
    for (const response of await Promise.all(routes(endpointId, 'ws_stranger'))) {
      expect([response.status, (response.body as { code: string }).code]).toEqual([403, 'wrong_workspace']);
    }
  });

  it('of another workspace is forbidden before the body is checked', async () => {
    const { endpointId } = await test.created({ url }, 'ws_owner');
    for (const response of [
      await test.patch(endpointId, { nope: 1 }, 'ws_stranger'),
      await test.post(`/${endpointId}/replay`, { since: 'yesterday' }, 'ws_stranger'),
    ])
      expect([response.status, (response.body as { code: string }).code]).toEqual([403, 'wrong_workspace']);
  });

  it.each([
    ['an unknown id', `we_${randomUUID()}`],
    ['a short id', 'we_1'],
    ['nonsense', 'nonsense'],
    ['a zero byte', '%00'],
    ['a long id', `we_${'a'.repeat(5_000)}`],
  ])('that does not exist is not found on any route: %s', async (_, id) => {
    for (const response of await Promise.all(routes(id, test.ws))) {
      expect([response.status, (response.body as { code: string }).code]).toEqual([404, 'webhook_not_found']);
    }
  });
});
