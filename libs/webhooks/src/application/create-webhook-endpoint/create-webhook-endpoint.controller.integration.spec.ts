import { Resolver } from 'node:dns/promises';
import { describe, expect, it, jest } from '@jest/globals';
import { url } from '../../../test/api.js';
import { webhookRequests } from '../../../test/webhook-requests.js';

const test = webhookRequests();

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

  it('accepts a description and a choice of events', async () => {
    const body = {
      url,
      events: ['reading.failed', 'reading.failed', 'reading.completed'],
      description: 'production',
    };
    expect(await test.created(body)).toMatchObject({
      events: ['reading.failed', 'reading.completed'],
      description: 'production',
    });
  });

  it.each([
    [{}, 'validation_failed', [{ pointer: '/url', code: 'required' }]],
    [{ url: 5 }, 'invalid_webhook_url', [{ pointer: '/url', code: 'invalid_webhook_url' }]],
    [{ url: 'nonsense' }, 'invalid_webhook_url', [{ pointer: '/url', code: 'invalid_webhook_url' }]],
    [
      { url: 'https:///u:p@receiver.example/hook' },
      'invalid_webhook_url',
      [{ pointer: '/url', code: 'invalid_webhook_url' }],
    ],
    [
      { url: 'http://receiver.example/' },
      'invalid_webhook_url',
      [{ pointer: '/url', code: 'invalid_webhook_url' }],
    ],
    [{ url: 'https://[::1]/' }, 'webhook_url_blocked', [{ pointer: '/url', code: 'webhook_url_blocked' }]],
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
    const response = await test.post('', body).expect(400);
    expect(response.body).toMatchObject({ code, errors });
  });

  it('refuses a description of more than 500 characters', async () => {
    const { body } = await test.post('', { url, description: 'x'.repeat(501) }).expect(400);
    expect(body).toMatchObject({ errors: [{ pointer: '/description', code: 'too_long' }] });
  });

  it('is not asked what its name leads to, so that nobody lists the names of the inside', async () => {
    const asked = jest.spyOn(Resolver.prototype, 'resolve4').mockResolvedValue(['10.0.0.1']);
    const { endpointId } = await test.created({ url: 'https://database.example/' });
    await test.patch(endpointId, { url: 'https://cache.example/' }).expect(200);
    expect(asked).not.toHaveBeenCalled();
    asked.mockRestore();
  });

  it('enforces the limit per workspace, even for concurrent requests', async () => {
    const responses = await Promise.all(Array.from({ length: 6 }, () => test.post('', { url })));
    expect(responses.map(({ status }) => status).sort()).toEqual([201, 201, 201, 409, 409, 409]);
    expect(responses.find(({ status }) => status === 409)!.body).toMatchObject({
      code: 'endpoint_limit_reached',
    });
    const { body } = await test.get('');
    await test.remove((body as { data: { endpointId: string }[] }).data[0]!.endpointId);
    await test.post('', { url }).expect(201);
    await test.post('', { url }, `${test.ws}x`).expect(201);
  });
});
