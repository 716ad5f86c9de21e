import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { TestApi, url } from '../../test/api.js';
import { reading, released } from '../../test/events.js';
import { startDatabase, type TestDatabase } from '../../test/postgres.js';

let database: TestDatabase;
let api: TestApi;
let ws: string;

beforeAll(async () => {
  database = await startDatabase();
  api = await TestApi.start(database);
});
afterAll(async () => {
  await api.stop();
  await database.stop();
});
beforeEach(() => {
  ws = `ws_${randomUUID().replaceAll('-', '').slice(0, 22)}`;
});

const post = (path: string, body?: object, as = ws) => api.request('post', `/webhooks${path}`, as, body);
const get = (path: string, as = ws) => api.request('get', `/webhooks${path}`, as);
const patch = (id: string, body: object, as = ws) => api.request('patch', `/webhooks/${id}`, as, body);
const remove = (id: string, as = ws) => api.request('delete', `/webhooks/${id}`, as);
const created = (body: object = { url }, as = ws) => api.createEndpoint(as, body);

describe('POST /api/v1/webhooks', () => {
  it('creates an endpoint that subscribes to everything, and shows its secret once', async () => {
    const response = await post('', { url }).expect(201);
    const { endpointId } = response.body as { endpointId: string };
    expect(response.headers).toMatchObject({
      location: `/api/v1/webhooks/${endpointId}`,
      'cache-control': 'no-store',
    });
    expect(response.body).toEqual({
      endpointId: expect.stringMatching(/^we_[0-9a-f-]{36}$/),
      url,
      events: ['reading.completed', 'reading.published', 'reading.failed', 'reading.delayed'],
      enabled: true,
      description: null,
      createdAt: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
      updatedAt: expect.any(String),
      health: { state: 'ok', failingSince: null, disabledReason: null, consecutiveFailures: 0 },
      secretHint: expect.stringMatching(/^.{4}$/),
      signingSecret: expect.stringMatching(/^whsec_[A-Za-z0-9+/]{44}$/),
    });
    const { signingSecret, ...record } = response.body as Record<string, string>;
    expect(signingSecret!.endsWith(record['secretHint']!)).toBe(true);
    expect((await get(`/${endpointId}`).expect(200)).body).toEqual(record);
    expect((await get('').expect(200)).body).toEqual({ data: [record], nextCursor: null });
  });

  it('stores the secret nowhere in clear', async () => {
    const { signingSecret } = await created();
    const { rows } = await database.pool.query<{ row: string }>(
      'select secret::text as row from webhooks.secret',
    );
    const bytes = Buffer.from(signingSecret as string, 'utf8').toString('hex');
    expect(rows.some(({ row }) => row.includes(signingSecret as string) || row.includes(bytes))).toBe(false);
    const events = JSON.stringify(api.store.log.map(({ data, metadata }) => [data, metadata]));
    expect(events).not.toContain(signingSecret);
  });

  it('takes a description and a choice of events', async () => {
    const body = {
      url,
      events: ['reading.failed', 'reading.failed', 'reading.completed'],
      description: 'production',
    };
    expect(await created(body)).toMatchObject({
      events: ['reading.failed', 'reading.completed'],
      description: 'production',
    });
  });

  it.each([
    [{}, 'validation_failed', [{ pointer: '/url', code: 'required' }]],
    [{ url: 5 }, 'invalid_webhook_url', [{ pointer: '/url', code: 'invalid_webhook_url' }]],
    [{ url: 'nonsense' }, 'invalid_webhook_url', [{ pointer: '/url', code: 'invalid_webhook_url' }]],
    [
      { url: 'http://receiver.example/' },
      'invalid_webhook_url',
      [{ pointer: '/url', code: 'invalid_webhook_url' }],
    ],
    [{ url: 'https://[::1]/' }, 'webhook_url_blocked', [{ pointer: '/url', code: 'webhook_url_blocked' }]],
    [
      { url: 'https://rebound.example/' },
      'webhook_url_blocked',
      [{ pointer: '/url', code: 'webhook_url_blocked' }],
    ],
    [{ url, events: [] }, 'validation_failed', [{ pointer: '/events', code: 'too_short' }]],
    [{ url, events: 'reading.failed' }, 'validation_failed', [{ pointer: '/events', code: 'invalid_type' }]],
    [{ url, events: null }, 'validation_failed', [{ pointer: '/events', code: 'invalid_type' }]],
    [
      { url, events: ['reading.failed', 'ping'] },
      'unsupported_event_type',
      [{ pointer: '/events/1', code: 'unsupported_event_type' }],
    ],
    [{ url, description: 5 }, 'validation_failed', [{ pointer: '/description', code: 'invalid_type' }]],
    [
      { url, signingSecret: 'whsec_mine' },
      'validation_failed',
      [{ pointer: '/signingSecret', code: 'unknown_field' }],
    ],
    [
      { url, workspaceId: 'ws_other' },
      'validation_failed',
      [{ pointer: '/workspaceId', code: 'unknown_field' }],
    ],
    [
      { url: 'nonsense', events: ['ping'] },
      'validation_failed',
      [
        { pointer: '/url', code: 'invalid_webhook_url' },
        { pointer: '/events/0', code: 'unsupported_event_type' },
      ],
    ],
  ])('refuses %j', async (body, code, errors) => {
    const response = await post('', body).expect(400);
    expect(response.body).toMatchObject({ code, errors });
  });

  it('refuses a description of more than 500 characters', async () => {
    const { body } = await post('', { url, description: 'x'.repeat(501) }).expect(400);
    expect(body).toMatchObject({ errors: [{ pointer: '/description', code: 'too_long' }] });
  });

  it('accepts a name that has no address yet, with a warning', async () => {
    expect(await created({ url: 'https://later.example/' })).toMatchObject({ warnings: ['unresolvable'] });
  });

  it('holds the limit per workspace, even for requests side by side', async () => {
    const responses = await Promise.all(Array.from({ length: 6 }, () => post('', { url })));
    expect(responses.map(({ status }) => status).sort()).toEqual([201, 201, 201, 409, 409, 409]);
    expect(responses.find(({ status }) => status === 409)!.body).toMatchObject({
      code: 'endpoint_limit_reached',
    });
    const { body } = await get('');
    await remove((body as { data: { endpointId: string }[] }).data[0]!.endpointId);
    await post('', { url }).expect(201);
    await post('', { url }, `${ws}x`).expect(201);
  });
});

describe('GET /api/v1/webhooks', () => {
  it('lists the newest first, page by page', async () => {
    const ids: string[] = [];
    for (const description of ['a', 'b', 'c']) ids.unshift((await created({ url, description })).endpointId);
    const first = (await get('?limit=2').expect(200)).body as {
      data: { endpointId: string }[];
      nextCursor: string;
    };
    const second = (await get(`?limit=2&cursor=${first.nextCursor}`).expect(200)).body as typeof first;
    expect([...first.data, ...second.data].map(({ endpointId }) => endpointId)).toEqual(ids);
    expect(second.nextCursor).toBeNull();
  });

  it('refuses a cursor that is not its own', async () => {
    for (const description of ['a', 'b']) await created({ url, description });
    const { nextCursor } = (await get('?limit=1')).body as { nextCursor: string };
    await get(`?cursor=${nextCursor}`, 'ws_other').expect(400);
    await get('?cursor=nonsense').expect(400);
    await get('?cursor=').expect(400);
    await get('?limit=0').expect(400);
    await get('?limit=101').expect(400);
  });

  it('shows nothing of another workspace', async () => {
    await created();
    expect((await get('', 'ws_other')).body).toEqual({ data: [], nextCursor: null });
  });
});

describe('PATCH /api/v1/webhooks/{endpointId}', () => {
  it('changes what is sent and nothing else', async () => {
    const { endpointId, signingSecret, ...before } = await created({ url, description: 'one' });
    const response = await patch(endpointId, { events: ['reading.failed'], description: null }).expect(200);
    expect(response.body).toEqual({
      ...before,
      endpointId,
      events: ['reading.failed'],
      description: null,
      updatedAt: expect.any(String),
    });
    expect((await get(`/${endpointId}`)).body).toEqual(response.body);
    expect(JSON.stringify(response.body)).not.toContain(signingSecret);
  });

  it('does nothing for an empty patch', async () => {
    const { endpointId } = await created();
    const events = api.store.log.length;
    await patch(endpointId, {}).expect(200);
    expect(api.store.log).toHaveLength(events);
  });

  it('takes application/merge-patch+json', async () => {
    const { endpointId } = await created();
    await patch(endpointId, { description: 'merged' })
      .set('content-type', 'application/merge-patch+json')
      .expect(200);
  });

  it.each([
    [{ signingSecret: 'whsec_mine' }, 'validation_failed'],
    [{ workspaceId: 'ws_other' }, 'validation_failed'],
    [{ url: null }, 'invalid_webhook_url'],
    [{ url: 'https://127.0.0.1/' }, 'webhook_url_blocked'],
    [{ url: 'https://rebound.example/' }, 'webhook_url_blocked'],
    [{ events: [] }, 'validation_failed'],
    [{ events: null }, 'validation_failed'],
    [{ enabled: 'no' }, 'validation_failed'],
    [{ enabled: null }, 'validation_failed'],
  ])('refuses %j', async (body, code) => {
    const { endpointId } = await created();
    expect((await patch(endpointId, body).expect(400)).body).toMatchObject({ code });
  });

  it('switches off and on, and tells how much was left out meanwhile', async () => {
    const { endpointId } = await created();
    expect((await patch(endpointId, { enabled: false }).expect(200)).body).toMatchObject({
      enabled: false,
      health: { state: 'disabled', disabledReason: 'requested' },
    });
    await api.happen(ws, reading(randomUUID()).completed({ at: Date.now() }));
    expect((await patch(endpointId, { enabled: true }).expect(200)).body).toMatchObject({
      enabled: true,
      health: { state: 'ok', disabledReason: null },
      skippedDeliveries: 1,
    });
  });

  it('counts a failure that happened before and was told after it was switched off, but no trial', async () => {
    const { endpointId } = await created();
    const failed = reading(randomUUID()).failed({ at: Date.now() - 1_000 });
    await api.happen(ws, failed);
    await patch(endpointId, { enabled: false }).expect(200);
    await api.happen(ws, released(failed, { at: Date.now() }));
    await post(`/${endpointId}/test`, {}).expect(202);
    expect((await patch(endpointId, { enabled: true }).expect(200)).body).toMatchObject({
      skippedDeliveries: 1,
    });
  });

  it('moves an endpoint that fails to another URL, where it begins anew', async () => {
    const { endpointId } = await created();
    await database.pool.query('insert into webhooks.endpoint_health values ($1, 12, now(), now())', [
      endpointId,
    ]);
    expect((await get(`/${endpointId}`)).body).toMatchObject({ health: { state: 'failing' } });
    const well = { health: { state: 'ok', consecutiveFailures: 0, failingSince: null } };
    expect((await patch(endpointId, { url: `${url}/moved` }).expect(200)).body).toMatchObject(well);
    expect((await get(`/${endpointId}`)).body).toMatchObject(well);
  });

  it('changes only what the caller has seen, with If-Match', async () => {
    const { endpointId } = await created();
    const { headers } = await get(`/${endpointId}`);
    await patch(endpointId, { description: 'mine' }).set('if-match', headers['etag']!).expect(200);
    const late = await patch(endpointId, { description: 'late' })
      .set('if-match', headers['etag']!)
      .expect(412);
    expect(late.body).toMatchObject({ code: 'precondition_failed' });
    await patch(endpointId, { description: 'any' }).set('if-match', '*').expect(200);
    await patch(endpointId, { description: 'weak' }).set('if-match', 'W/"2"').expect(412);
  });
});

describe('DELETE /api/v1/webhooks/{endpointId}', () => {
  it('removes the endpoint for good', async () => {
    const { endpointId } = await created();
    await remove(endpointId).expect(204);
    await get(`/${endpointId}`).expect(404);
    await remove(endpointId).expect(404);
    expect((await get('')).body).toEqual({ data: [], nextCursor: null });
  });
});

describe('POST …/rotate-secret', () => {
  it('shows the new secret once and how long the old one lasts', async () => {
    const { endpointId, signingSecret } = await created();
    const response = await post(`/${endpointId}/rotate-secret`).expect(200);
    const rotated = response.body as Record<string, string>;
    expect(rotated['signingSecret']).toMatch(/^whsec_/);
    expect(rotated['signingSecret']).not.toBe(signingSecret);
    expect(Date.parse(rotated['previousValidUntil']!) - Date.parse(rotated['updatedAt']!)).toBeGreaterThan(
      86_000_000,
    );
    expect((await get(`/${endpointId}`)).body).toMatchObject({
      secretHint: rotated['signingSecret']!.slice(-4),
    });
    await post(`/${endpointId}/rotate-secret`, { overlapSeconds: 0 }).expect(200);
    for (const overlapSeconds of [-1, 604_801, 1.5, '5', null]) {
      await post(`/${endpointId}/rotate-secret`, { overlapSeconds }).expect(400);
    }
  });
});

describe('Deliveries', () => {
  it('can be tried out, listed and sent again', async () => {
    const { endpointId } = await created();
    const tried = (await post(`/${endpointId}/test`, { type: 'reading.failed' }).expect(202)).body as {
      deliveryId: string;
    };
    expect(tried).toMatchObject({
      type: 'reading.failed',
      test: true,
      redelivery: false,
      status: 'pending',
      attempts: 0,
    });
    const again = (await post(`/${endpointId}/deliveries/${tried.deliveryId}/redeliver`).expect(202))
      .body as typeof tried;
    expect(again).toMatchObject({ redelivery: true, test: true });
    const first = (await get(`/${endpointId}/deliveries?limit=1`).expect(200)).body as {
      data: { deliveryId: string }[];
      nextCursor: string;
    };
    const second = (await get(`/${endpointId}/deliveries?limit=1&cursor=${first.nextCursor}`))
      .body as typeof first;
    expect([...first.data, ...second.data].map(({ deliveryId }) => deliveryId)).toEqual([
      again.deliveryId,
      tried.deliveryId,
    ]);
    await post(`/${endpointId}/test`, { type: 'ping' }).expect(400);
    await get(`?cursor=${first.nextCursor}`).expect(400);
  });

  it('of another endpoint are not found under one’s own', async () => {
    const [mine, theirs] = [await created(), await created({ url }, 'ws_theirs')];
    const { deliveryId } = (await post(`/${theirs.endpointId}/test`, {}, 'ws_theirs')).body as {
      deliveryId: string;
    };
    const found = await post(`/${mine.endpointId}/deliveries/${deliveryId}/redeliver`).expect(404);
    expect(found.body).toMatchObject({ code: 'delivery_not_found' });
    await post(`/${mine.endpointId}/deliveries/nonsense/redeliver`).expect(404);
  });
});

describe('An endpoint', () => {
  const routes = (id: string, as: string) => [
    get(`/${id}`, as),
    patch(id, {}, as),
    remove(id, as),
    post(`/${id}/rotate-secret`, {}, as),
    post(`/${id}/test`, {}, as),
    get(`/${id}/deliveries`, as),
    post(`/${id}/deliveries/${randomUUID()}/redeliver`, {}, as),
    get(`/${id}/health`, as),
    get(`/${id}/deliveries/${randomUUID()}`, as),
    post(`/${id}/replay`, { since: '2026-04-01T00:00:00Z' }, as),
    get(`/${id}/replays/${randomUUID()}`, as),
  ];

  it('of another workspace is forbidden on every route', async () => {
    const { endpointId } = await created({ url }, 'ws_owner');
    for (const response of await Promise.all(routes(endpointId, 'ws_stranger'))) {
      expect([response.status, (response.body as { code: string }).code]).toEqual([403, 'wrong_workspace']);
    }
  });

  it('of another workspace is forbidden before anything is said of what was sent', async () => {
    const { endpointId } = await created({ url }, 'ws_owner');
    for (const response of [
      await patch(endpointId, { nope: 1 }, 'ws_stranger'),
      await post(`/${endpointId}/replay`, { since: 'yesterday' }, 'ws_stranger'),
    ])
      expect([response.status, (response.body as { code: string }).code]).toEqual([403, 'wrong_workspace']);
  });

  it.each([
    ['an unknown id', `we_${randomUUID()}`],
    ['a short id', 'we_1'],
    ['nonsense', 'nonsense'],
    ['a zero byte', '%00'],
    ['a long id', `we_${'a'.repeat(5_000)}`],
  ])('that is not there is not found on any route: %s', async (_, id) => {
    for (const response of await Promise.all(routes(id, ws))) {
      expect([response.status, (response.body as { code: string }).code]).toEqual([404, 'webhook_not_found']);
    }
  });
});
