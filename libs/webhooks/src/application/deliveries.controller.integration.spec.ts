import { randomUUID } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import { failure, reading, batchEnded } from '../../test/events.js';
import { status, eventually } from '../../test/receiver.js';
import { deliveringRequests } from '../../test/webhook-requests.js';
import { endingKeyOf, url } from '../../test/api.js';

const test = deliveringRequests();

interface Delivery {
  readonly deliveryId: string;
  readonly eventId: string;
  readonly readingId: string;
  readonly type: string;
  readonly status: string;
  readonly sequence: number;
}

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

  it('refuses a filter that it does not understand', async () => {
    for (const [query, pointer, code] of [
      ['status=lost', '?status', 'invalid_value'],
      ['type=ping', '?type', 'unsupported_event_type'],
      ['readingId=1', '?readingId', 'invalid_value'],
      ['since=yesterday', '?since', 'invalid_value'],
      ['undelivered=maybe', '?undelivered', 'invalid_value'],
    ])
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
});

const health = () => test.get(`/${test.endpointId}/health`).expect(200);

describe('GET …/health', () => {
  it('shows the state, the queue, and how attempts ended', async () => {
    expect((await health()).body).toEqual({
      state: 'ok',
      failingSince: null,
      disabledReason: null,
      consecutiveFailures: 0,
      pending: 0,
      queueAgeSeconds: 0,
      nextAttemptAt: null,
      lastSuccessAt: null,
      attempts: {},
    });
    test.receiver.answer = (response, received, index) =>
      status(index === 0 ? 200 : 500)(response, received, index);
    await test.happen(reading(randomUUID()).completed());
    await test.settled();
    await test.happen(reading(randomUUID()).completed());
    await test.settled();
    expect((await health()).body).toMatchObject({
      state: 'failing',
      consecutiveFailures: 2,
      lastSuccessAt: expect.stringMatching(/Z$/),
      attempts: { succeeded: 1, http_error: 2 },
    });
    await test.sending.stop();
    await test.happen(reading(randomUUID()).completed({ at: Date.now() - 60_000 }));
    const { body } = await health();
    expect(body).toMatchObject({ pending: 1, nextAttemptAt: expect.stringMatching(/Z$/) });
    expect((body as { queueAgeSeconds: number }).queueAgeSeconds).toBeGreaterThanOrEqual(60);
  });
});

/** The endpoint has failed often, and its next probe is due in an hour. */
const failsOften = async () => {
  const { pool } = test.database;
  await pool.query(
    `insert into webhooks.endpoint_health values ($1, 12, now(), now() + interval '1 hour')
     on conflict (endpoint_id) do update set consecutive_failures = 12, probe_at = excluded.probe_at`,
    [test.endpointId],
  );
  // A worker that has the workspace reads it only later.
  await eventually(
    async () =>
      (await pool.query('select from webhooks.workspace_lease where lease is not null')).rowCount === 0,
  );
};
const received = () => test.receiver.received.length;

describe('A key that ends while its request is held', () => {
  it('sends no trial, and learns no count of a dry run', async () => {
    const dryRun = { since: '2026-04-01T00:00:00Z', dryRun: true };
    await test.post(`/${test.endpointId}/replay`, dryRun).expect(202);
    for (const [path, body] of [
      ['test', { type: 'reading.completed' }],
      ['replay', dryRun],
    ] as const)
      await test.post(`/${test.endpointId}/${path}`, body, endingKeyOf(test.ws)).expect(401);
    expect(await list()).toEqual([]);
  });

  it('makes and changes no endpoint, and sends nothing again', async () => {
    await test.happen(reading(randomUUID()).completed());
    await test.settled();
    const [{ deliveryId }] = (await list()) as [Delivery];
    const before = (await test.get('').expect(200)).body as object;
    await test.post('', { url }, endingKeyOf(test.ws)).expect(401);
    await test.patch(test.endpointId, { description: 'late' }, endingKeyOf(test.ws)).expect(401);
    const again = `/${test.endpointId}/deliveries/${deliveryId}/redeliver`;
    await test.post(again, undefined, endingKeyOf(test.ws)).expect(401);
    expect((await test.get('').expect(200)).body).toEqual(before);
    expect(await list()).toHaveLength(1);
  });
});

describe('An endpoint that keeps failing', () => {
  it('is tried at once for a trial, and gets what waited when it works again', async () => {
    await failsOften();
    await test.happen(reading(randomUUID()).completed({ at: Date.now() }));
    await test.sending.idle();
    expect(received()).toBe(0);
    await test.post(`/${test.endpointId}/test`, {}).expect(202);
    await eventually(() => received() === 2);
    // The second may be sent while the success of the first is recorded.
    await test.settled();
    expect((await test.get(`/${test.endpointId}`)).body).toMatchObject({ health: { state: 'ok' } });
  });

  it('gets one attempt for each request, not all that wait', async () => {
    test.receiver.answer = (response) => response.writeHead(500).end();
    await failsOften();
    await test.happen(...[1, 2, 3].map(() => reading(randomUUID()).completed({ at: Date.now() })));
    await test.post(`/${test.endpointId}/test`, {}).expect(202);
    await eventually(() => received() === 1);
    await test.sending.idle();
    expect(received()).toBe(1);
  });
});

const SECRET = 'Bearer 4f7c-secret';
const headers = { Authorization: SECRET, 'X-Tenant': 'eu' };
const completed = () => reading(randomUUID()).completed({ at: Date.now() });
const hours = () =>
  test.database.pool.query<{ outcome: string; attempts: number; latencies: number[] }>(
    'select outcome, attempts, latencies from webhooks.endpoint_hour where endpoint_id = $1 order by outcome',
    [test.endpointId],
  );

describe('Custom headers', () => {
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

  it('are ten at most after a merge', async () => {
    const ten = (letter: string, value: string | null) =>
      Object.fromEntries(Array.from({ length: 10 }, (_, n) => [`x-${letter}${n}`, value]));
    const { endpointId } = await test.created({ url, headers: ten('a', '1') });
    const { body } = await test.patch(endpointId, { headers: { 'x-b': '1' } }).expect(400);
    expect(body).toMatchObject({ errors: [{ pointer: '/headers', code: 'too_many' }] });
    await test.patch(endpointId, { headers: { ...ten('a', null), ...ten('b', '1') } }).expect(200);
  });

  it('do not follow the URL to another host unless they are sent again or removed', async () => {
    const { endpointId } = await test.created({ url, headers });
    await test.patch(endpointId, { url: `${url}/moved` }).expect(200);
    const elsewhere = { url: 'https://elsewhere.example/hook' };
    await test.patch(endpointId, { url: 'https://receiver.example:8443/hook' }).expect(400);
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
});

describe('A limit of its own', () => {
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

  it.each([
    ['since=never', '?since'],
    ['since=2026-04-05T00:00:00Z&until=2026-04-04T00:00:00Z', '?since'],
    ['since=2026-01-01T00:00:00Z&until=2026-04-04T00:00:00Z', '?since'],
  ])('of %s are refused', async (query, pointer) => {
    const { body } = await test.get(`/${test.endpointId}/stats?${query}`).expect(400);
    expect(body).toMatchObject({ errors: [{ pointer }] });
  });
});

describe('A notice', () => {
  it('is in the list of deliveries, and can be sent again', async () => {
    await test.patch(test.endpointId, { notices: ['batch.ended'] }).expect(200);
    const batchId = randomUUID();
    await test.happen(
      reading(randomUUID()).completed({ at: Date.now() }),
      batchEnded(batchId, {}, { at: Date.now() }),
    );
    await test.settled();
    const [notice, ...others] = await list('?type=batch.ended');
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
    expect(test.receiver.received.at(-1)!.headers).not.toHaveProperty('x-service-event');
  });
});

describe('Requests to send again that wait for one another', () => {
  it('leave the connections of the process to others', async () => {
    await test.happen(reading(randomUUID()).completed());
    await test.settled();
    const [{ deliveryId }] = (await list()) as [Delivery];
    const client = await test.database.pool.connect();
    const lock = [`webhooks|${test.endpointId}`];
    await client.query('select pg_advisory_lock(hashtextextended($1, 0))', lock);
    // More than the process has connections.
    const again = Array.from({ length: 20 }, () =>
      test.post(`/${test.endpointId}/deliveries/${deliveryId}/redeliver`).then((answer) => answer.status),
    );
    try {
      const waiting = async () => (await client.query('select from pg_locks where not granted')).rows.length;
      await eventually(async () => (await waiting()) > 0);
      for (let looks = 0; looks < 20; looks += 1) await list();
      expect(await waiting()).toBe(1);
    } finally {
      await client.query('select pg_advisory_unlock(hashtextextended($1, 0))', lock);
      client.release();
    }
    expect(await Promise.all(again)).toEqual(Array(20).fill(202));
  });
});
