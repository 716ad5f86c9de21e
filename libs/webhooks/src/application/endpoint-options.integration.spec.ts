import { randomUUID } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import { url } from '../../test/api.js';
import { reading } from '../../test/events.js';
import { deliveringRequests } from '../../test/webhook-requests.js';
import { EndpointStreams } from './endpoint-streams.js';
import { destroyUnused } from './unused-secrets.js';

const test = deliveringRequests();
const SECRET = 'Bearer 4f7c-secret';
const headers = { Authorization: SECRET, 'X-Tenant': 'eu' };
const completed = () => reading(randomUUID()).completed({ at: Date.now() });
const hours = () =>
  test.database.pool.query<{ outcome: string; attempts: number; latencies: number[] }>(
    'select outcome, attempts, latencies from webhooks.endpoint_hour where endpoint_id = $1 order by outcome',
    [test.endpointId],
  );

describe('Custom headers', () => {
  it('go with each delivery, beside those of the service', async () => {
    await test.patch(test.endpointId, { headers }).expect(200);
    await test.happen(completed());
    await test.settled();
    expect(test.receiver.received[0]!.headers).toMatchObject({
      authorization: SECRET,
      'x-tenant': 'eu',
      'x-service-event': 'reading.completed',
    });
  });

  it('are shown by name alone, stored sealed, and in no event', async () => {
    const created = await test.created({ url, headers });
    expect(created).toMatchObject({ headerNames: ['authorization', 'x-tenant'] });
    const shown = (await test.get(`/${created.endpointId}`).expect(200)).body as object;
    expect(shown).toMatchObject({ headerNames: ['authorization', 'x-tenant'] });
    const { rows } = await test.database.pool.query<{ sealed: Buffer }>(
      'select sealed from webhooks.endpoint_headers where endpoint_id = $1',
      [created.endpointId],
    );
    expect(rows[0]!.sealed.includes('4f7c-secret')).toBe(false);
    const log = JSON.stringify(test.api.store.log, (_, value: unknown) =>
      typeof value === 'bigint' ? 0 : value,
    );
    expect(`${JSON.stringify(created)}${JSON.stringify(shown)}${log}`).not.toContain('4f7c-secret');
  });

  it('are merged one by one, as RFC 7396 says, and what was replaced is no longer sent', async () => {
    const named = async (patch: object | null) =>
      (await test.patch(test.endpointId, { headers: patch }).expect(200)).body as object;
    await named(headers);
    expect(await named({ 'x-TENANT': 'us', 'x-a': '1' })).toMatchObject({
      headerNames: ['authorization', 'x-a', 'x-tenant'],
    });
    expect(await named({})).toMatchObject({ headerNames: ['authorization', 'x-a', 'x-tenant'] });
    expect(await named({ 'X-A': null, 'x-absent': null })).toMatchObject({
      headerNames: ['authorization', 'x-tenant'],
    });
    await test.happen(completed());
    await test.settled();
    const { headers: sent } = test.receiver.received[0]!;
    expect(sent).toMatchObject({ authorization: SECRET, 'x-tenant': 'us' });
    expect(sent).not.toHaveProperty('x-a');
    expect(await named(null)).toMatchObject({ headerNames: [] });
  });

  it('are ten at most after a merge, and none is lost when two merge at once', async () => {
    const ten = (letter: string, value: string | null) =>
      Object.fromEntries(Array.from({ length: 10 }, (_, n) => [`x-${letter}${n}`, value]));
    const { endpointId } = await test.created({ url, headers: ten('a', '1') });
    const { body } = await test.patch(endpointId, { headers: { 'x-b': '1' } }).expect(400);
    expect(body).toMatchObject({ errors: [{ pointer: '/headers', code: 'too_many' }] });
    await test.patch(endpointId, { headers: { ...ten('a', null), ...ten('b', '1') } }).expect(200);
    await test.patch(endpointId, { headers: null }).expect(200);
    const changes = Object.keys(ten('c', '1')).map((name) =>
      test.patch(endpointId, { headers: { [name]: '1' } }).expect(200),
    );
    await Promise.all(changes);
    expect((await test.get(`/${endpointId}`)).body).toMatchObject({
      headerNames: Object.keys(ten('c', '1')),
    });
  });

  it('are destroyed when they are replaced', async () => {
    const { endpointId } = await test.created({ url, headers });
    await test.patch(endpointId, { headers: { 'X-Tenant': null } }).expect(200);
    const left = async () =>
      (
        await test.database.pool.query<{ names: string[] }>(
          'select names from webhooks.endpoint_headers where endpoint_id = $1',
          [endpointId],
        )
      ).rows.map(({ names }) => names);
    expect(await left()).toHaveLength(2);
    const streams = test.api.app.get(EndpointStreams, { strict: false });
    const parts = { pool: test.database.pool, streams, log: { warn: () => undefined } };
    await destroyUnused(parts, Date.now() + 2 * 3_600_000, new AbortController().signal);
    expect(await left()).toEqual([['authorization']]);
  });

  it('do not follow the URL to another host unless they are sent again or removed', async () => {
    const { endpointId } = await test.created({ url, headers });
    await test.patch(endpointId, { url: `${url}/moved` }).expect(200);
    const elsewhere = { url: 'https://elsewhere.example/hook' };
    const refused = await test.patch(endpointId, elsewhere).expect(400);
    expect(refused.body).toMatchObject({
      code: 'validation_failed',
      errors: [{ pointer: '/headers', code: 'required', detail: expect.stringContaining('null to remove') }],
    });
    expect((await test.get(`/${endpointId}`)).body).toMatchObject({
      url: `${url}/moved`,
      headerNames: ['authorization', 'x-tenant'],
    });
    // Those that the change does not name would be merged, and follow.
    for (const some of [{}, { 'x-own': '1', 'x-tenant': 'us' }])
      expect((await test.patch(endpointId, { ...elsewhere, headers: some }).expect(400)).body).toEqual(
        expect.objectContaining({ errors: refused.body.errors }),
      );
    const own = { Authorization: null, 'X-Tenant': 'us', 'x-own': '1' };
    const again = await test.patch(endpointId, { ...elsewhere, headers: own }).expect(200);
    expect(again.body).toMatchObject({ ...elsewhere, headerNames: ['x-own', 'x-tenant'] });
    const removed = await test.patch(endpointId, { url, headers: null }).expect(200);
    expect(removed.body).toMatchObject({ url, headerNames: [] });
    await test.patch(endpointId, elsewhere).expect(200);
  });

  it.each([
    [{ Host: 'x' }, 'reserved_name', '/headers/Host'],
    [{ 'x-a': 'a\nb: c' }, 'invalid_value', '/headers/x-a'],
    [{ 'x-a': 5 }, 'invalid_value', '/headers/x-a'],
    [{ 'x-a': '' }, 'invalid_value', '/headers/x-a'],
    [['x-a'], 'invalid_type', '/headers'],
    ['x-a: b', 'invalid_type', '/headers'],
  ])('%j are refused, without their values', async (bad, code, pointer) => {
    const { body } = await test.post('', { url, headers: bad }).expect(400);
    expect(body).toMatchObject({ code: 'validation_failed', errors: [{ pointer, code }] });
    await test.patch(test.endpointId, { headers: bad }).expect(400);
  });
});

describe('A limit of its own', () => {
  it.each([0, 1.5, 1_001, -1])('cannot be %j', async (maxPerSecond) => {
    const { body } = await test.post('', { url, maxPerSecond }).expect(400);
    expect(body).toMatchObject({ errors: [{ pointer: '/maxPerSecond', code: 'invalid_value' }] });
  });

  it('spaces deliveries, and loses none', async () => {
    expect((await test.patch(test.endpointId, { maxPerSecond: 20 }).expect(200)).body).toMatchObject({
      maxPerSecond: 20,
    });
    await test.happen(...Array.from({ length: 30 }, completed));
    await test.settled();
    expect(test.receiver.received).toHaveLength(30);
    const { rows } = await test.database.pool.query<{ ms: number }>(
      `select extract(epoch from max(started_at) - min(started_at))::float8 * 1000 as ms from webhooks.settled_delivery`,
    );
    // Twenty-nine turns of 50 ms, however slow or fast the machine is. Each start is rounded to a millisecond.
    expect(rows[0]!.ms).toBeGreaterThanOrEqual(29 * 50 - 1);
  });
});

describe('The stats of an endpoint', () => {
  it('count each attempt once, by hour and outcome, and outlive the history', async () => {
    test.receiver.answer = (response, _, index) => response.writeHead(index === 0 ? 500 : 204).end();
    await test.happen(completed(), completed());
    await test.settled();
    // An hour may end between two attempts.
    const { rows } = await hours();
    const summed = (of: string, numbers: (row: (typeof rows)[0]) => readonly number[]): number =>
      rows.flatMap((row) => (row.outcome === of ? numbers(row) : [])).reduce((sum, n) => sum + n, 0);
    expect(new Set(rows.map(({ outcome }) => outcome))).toEqual(new Set(['http_error', 'succeeded']));
    expect(summed('http_error', ({ attempts }) => [attempts])).toBe(1);
    expect(summed('succeeded', ({ attempts }) => [attempts])).toBe(2);
    expect(summed('succeeded', ({ latencies }) => latencies)).toBe(2);
    await test.database.pool.query('truncate webhooks.attempt, webhooks.settled_delivery');
    const { body } = await test.get(`/${test.endpointId}/stats`).expect(200);
    expect(body).toMatchObject({
      total: { attempts: { http_error: 1, succeeded: 2 }, latencyMs: { p50: expect.any(Number) } },
    });
  });

  it('are empty before the first attempt', async () => {
    const { body } = await test.get(`/${test.endpointId}/stats`).expect(200);
    expect(body).toMatchObject({ hours: [], total: { attempts: {}, latencyMs: null } });
  });

  it.each([
    ['since=never', '?since'],
    ['since=2026-04-05T00:00:00Z&until=2026-04-04T00:00:00Z', '?since'],
    ['since=2026-01-01T00:00:00Z&until=2026-04-04T00:00:00Z', '?since'],
  ])('of %s are refused', async (query, pointer) => {
    const { body } = await test.get(`/${test.endpointId}/stats?${query}`).expect(400);
    expect(body).toMatchObject({ errors: [{ pointer }] });
  });

  it('are those of the own workspace', async () => {
    await test.get(`/${test.endpointId}/stats`, 'ws_stranger0000000000000').expect(403);
  });
});
