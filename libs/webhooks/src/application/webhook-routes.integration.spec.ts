import { describe, expect, it, jest } from '@jest/globals';
import { Resolver } from 'node:dns/promises';
import { url } from '../../test/api.js';
import { eventually } from '../../test/receiver.js';
import { webhookRequests } from '../../test/webhook-requests.js';

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
});

describe('POST /api/v1/webhooks', () => {
  it('creates an endpoint that subscribes to everything, and shows its secret once', async () => {
    const response = await test.post('', { url }).expect(201);
    const { endpointId } = response.body as { endpointId: string };
    expect(response.headers).toMatchObject({
      location: `/api/v1/webhooks/${endpointId}`,
      'cache-control': 'no-store',
    });
    expect(response.body).toEqual({
      endpointId: expect.stringMatching(/^we_[0-9a-f-]{36}$/),
      url,
      events: ['reading.completed', 'reading.published', 'reading.failed', 'reading.delayed'],
      modes: ['live'],
      notices: [],
      enabled: true,
      description: null,
      headerNames: [],
      maxPerSecond: null,
      createdAt: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
      updatedAt: expect.any(String),
      health: { state: 'ok', failingSince: null, disabledReason: null, consecutiveFailures: 0 },
      secretHint: expect.stringMatching(/^.{4}$/),
      signingSecret: expect.stringMatching(/^whsec_[A-Za-z0-9+/]{44}$/),
    });
    const { signingSecret, ...record } = response.body as Record<string, string>;
    expect(signingSecret!.endsWith(record['secretHint']!)).toBe(true);
    expect((await test.get(`/${endpointId}`).expect(200)).body).toEqual(record);
    expect((await test.get('').expect(200)).body).toEqual({ data: [record], nextCursor: null });
  });

  it('stores the URL as a URL parser writes it, and so does a change', async () => {
    const { endpointId, ...created } = await test.created({ url: 'https:\\\\RECEIVER.example:443/ho\tok' });
    expect(created).toMatchObject({ url });
    const changed = await test.patch(endpointId, { url: ' https:receiver.example/a b' }).expect(200);
    expect(changed.body).toMatchObject({ url: 'https://receiver.example/a%20b' });
  });

  it('never stores the secret in clear', async () => {
    const { signingSecret } = await test.created();
    const { rows } = await test.database.pool.query<{ row: string }>(
      'select secret::text as row from webhooks.secret',
    );
    const bytes = Buffer.from(signingSecret as string, 'utf8').toString('hex');
    expect(rows.some(({ row }) => row.includes(signingSecret as string) || row.includes(bytes))).toBe(false);
    const events = JSON.stringify(test.api.store.log.map(({ data, metadata }) => [data, metadata]));
    expect(events).not.toContain(signingSecret);
  });

  const BAD_URL = { pointer: '/url', code: 'invalid_webhook_url' };
  it.each([
    ['validation_failed', {}, [{ pointer: '/url', code: 'required' }]],
    ['invalid_webhook_url', { url: 5 }, [BAD_URL]],
    ['invalid_webhook_url', { url: 'https:///u:p@receiver.example/hook' }, [BAD_URL]],
    ['webhook_url_blocked', { url: 'https://[::1]/' }, [{ pointer: '/url', code: 'webhook_url_blocked' }]],
    ['validation_failed', { url, events: [] }, [{ pointer: '/events', code: 'too_short' }]],
    ['validation_failed', { url, description: 5 }, [{ pointer: '/description', code: 'invalid_type' }]],
    [
      'validation_failed',
      { url, description: 'x'.repeat(501) },
      [{ pointer: '/description', code: 'too_long' }],
    ],
    ['validation_failed', { url, modes: ['prod'] }, [{ pointer: '/modes/0', code: 'invalid_value' }]],
    [
      'validation_failed',
      { url, headers: { Host: 'x', 'x-a': 'a\nb: c' }, maxPerSecond: 1_001 },
      [
        { pointer: '/headers/Host', code: 'reserved_name' },
        { pointer: '/headers/x-a', code: 'invalid_value' },
        { pointer: '/maxPerSecond', code: 'invalid_value' },
      ],
    ],
    [
      'validation_failed',
      { url: 'nonsense', events: ['reading.failed', 'ping'] },
      [BAD_URL, { pointer: '/events/1', code: 'unsupported_event_type' }],
    ],
  ])('answers with %s to %j', async (code, body, errors) => {
    const response = await test.post('', body).expect(400);
    expect(response.body).toMatchObject({ code, errors });
  });

  it('is not asked what its name leads to, so that nobody lists the names of the inside', async () => {
    const asked = jest.spyOn(Resolver.prototype, 'resolve4').mockResolvedValue(['10.0.0.1']);
    const { endpointId } = await test.created({ url: 'https://database.example/' });
    await test.patch(endpointId, { url: 'https://cache.example/' }).expect(200);
    expect(asked).not.toHaveBeenCalled();
    asked.mockRestore();
  });

  it('enforces the limit per workspace, even for concurrent requests', async () => {
    const responses = await Promise.all(Array.from({ length: 19 }, () => test.post('', { url })));
    const statuses = responses.map(({ status }) => status).sort();
    expect(statuses).toEqual([...Array<number>(16).fill(201), 409, 409, 409]);
    expect(responses.find(({ status }) => status === 409)!.body).toMatchObject({
      code: 'endpoint_limit_reached',
    });
    const { body } = await test.get('');
    await test.remove((body as { data: { endpointId: string }[] }).data[0]!.endpointId);
    await test.post('', { url }).expect(201);
    await test.post('', { url }, `${test.ws}x`).expect(201);
  });
});

describe('PATCH /api/v1/webhooks/{endpointId}', () => {
  it('changes only the given members', async () => {
    const { endpointId, signingSecret, ...before } = await test.created({ url, description: 'one' });
    const response = await test
      .patch(endpointId, { events: ['reading.failed'], description: null })
      .set('content-type', 'application/merge-patch+json')
      .expect(200);
    expect(response.body).toEqual({
      ...before,
      endpointId,
      events: ['reading.failed'],
      description: null,
      updatedAt: expect.any(String),
    });
    expect((await test.get(`/${endpointId}`)).body).toEqual(response.body);
    expect(JSON.stringify(response.body)).not.toContain(signingSecret);
  });

  it.each([
    [{ signingSecret: 'whsec_mine' }, 'validation_failed'],
    [{ url: null }, 'invalid_webhook_url'],
    [{ url: 'https://127.0.0.1/' }, 'webhook_url_blocked'],
    [{ events: [], headers: ['x-a'], notices: null, maxPerSecond: 1.5 }, 'validation_failed'],
    [{ enabled: null }, 'validation_failed'],
  ])('refuses %j', async (body, code) => {
    const { endpointId } = await test.created();
    expect((await test.patch(endpointId, body).expect(400)).body).toMatchObject({ code });
  });

  it('stores the headers of changes at once as often as there are changes', async () => {
    const { endpointId } = await test.created();
    const changes = Array.from({ length: 10 }, (_, n) =>
      test.patch(endpointId, { url, headers: { [`x-${n}`]: 'set' } }).expect(200),
    );
    await Promise.all(changes);
    const names = Array.from({ length: 10 }, (_, n) => `x-${n}`);
    const known = async () =>
      ((await test.get(`/${endpointId}`)).body as { headerNames: string[] }).headerNames;
    // The answers waited for the row for a moment at most.
    await eventually(async () => (await known()).length === names.length);
    expect(await known()).toEqual(names);
    const stored = 'select from webhooks.endpoint_headers where endpoint_id = $1';
    expect((await test.database.pool.query(stored, [endpointId])).rowCount).toBe(10);
  });

  it('changes only the revision that the caller has seen, with If-Match', async () => {
    const { endpointId } = await test.created();
    const { headers } = await test.get(`/${endpointId}`);
    await test.patch(endpointId, { description: 'mine' }).set('if-match', headers['etag']!).expect(200);
    const late = await test
      .patch(endpointId, { description: 'late' })
      .set('if-match', headers['etag']!)
      .expect(412);
    expect(late.body).toMatchObject({ code: 'precondition_failed' });
    await test.patch(endpointId, { description: 'any' }).set('if-match', '*').expect(200);
    await test.patch(endpointId, { description: 'weak' }).set('if-match', 'W/"2"').expect(412);
    await test.patch(endpointId, { description: 'compressed' }).set('if-match', '"0", "2-gzip"').expect(200);
  });
});

describe('POST …/rotate-secret', () => {
  it('shows the new secret once and how long the old one lasts', async () => {
    const { endpointId, signingSecret } = await test.created();
    const response = await test.post(`/${endpointId}/rotate-secret`).expect(200);
    const rotated = response.body as Record<string, string>;
    expect(rotated['signingSecret']).toMatch(/^whsec_/);
    expect(rotated['signingSecret']).not.toBe(signingSecret);
    expect(Date.parse(rotated['previousValidUntil']!) - Date.parse(rotated['updatedAt']!)).toBeGreaterThan(
      86_000_000,
    );
    expect((await test.get(`/${endpointId}`)).body).toMatchObject({
      secretHint: rotated['signingSecret']!.slice(-4),
    });
    await test.post(`/${endpointId}/rotate-secret`, { overlapSeconds: 0 }).expect(200);
    for (const overlapSeconds of [-1, 604_801, 1.5, '5', null]) {
      await test.post(`/${endpointId}/rotate-secret`, { overlapSeconds }).expect(400);
    }
  });
});

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
    await test.post(`/${endpointId}/test`, { type: 'ping' }).expect(400);
  });
});
