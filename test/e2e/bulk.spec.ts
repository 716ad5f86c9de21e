import { expect, it } from '@jest/globals';
import { once } from 'node:events';
import { request, type IncomingMessage } from 'node:http';
import { fixture, sharedStack } from '../support/index.js';
import { Integrator, person, until } from '../support/integrator.js';

interface Item {
  readonly line?: number;
  readonly status: 'accepted' | 'refused';
  readonly readingId?: string;
  readonly problem?: { code: string; errors?: { pointer: string }[] };
}
interface Answer {
  readonly batchId: string;
  readonly accepted: number;
  readonly refused: number;
  readonly items: readonly Item[];
  readonly code: string;
  readonly errors: readonly { pointer: string; code: string; detail: string }[];
}

const stack = fixture(sharedStack);
const BULK = '/api/v1/readings/bulk';
const bulk = (customer: Integrator, body: unknown, headers: Record<string, string> = {}) =>
  customer.call<Answer>('POST', BULK, { body, headers });
const lines = (customer: Integrator, raw: string, query = '?mode=available') =>
  customer.call<Answer>('POST', BULK + query, { raw, headers: { 'content-type': 'application/x-ndjson' } });
const outcomes = ({ items }: Answer) => items.map(({ status, problem }) => problem?.code ?? status);
const faults = ({ errors }: Answer) => errors.map(({ pointer, code }) => `${pointer} ${code}`);

it('A bulk accepts each reading under an id of its own, with one entry in the ledger, and counts their states', async () => {
  const customer = await Integrator.open(stack, 100);
  const headers = { 'idempotency-key': 'bulk-1' };
  const body = { mode: 'all', readings: [person(), { ...person('Léa'), externalId: 'in a batch' }] };
  const first = await bulk(customer, body, headers);
  expect(first).toMatchObject({ status: 202, body: { accepted: 2, refused: 0 } });
  const { batchId, items } = first.body;
  const path = `/api/v1/batches/${batchId}`;
  expect(first.headers.get('location')).toBe(path);
  expect(new Set(items.map(({ readingId }) => readingId)).size).toBe(2);

  const again = await bulk(customer, body, headers);
  expect([again.headers.get('idempotency-replayed'), again.body]).toEqual(['true', first.body]);
  for (const other of [
    { ...body, readings: [body.readings[0], person('Anna')] },
    { ...body, readings: body.readings.slice(0, 1) },
    { ...body, mode: 'available' },
  ])
    expect(await bulk(customer, other, headers)).toMatchObject({
      status: 422,
      body: { code: 'idempotency_key_reused' },
    });

  const batch = async () => (await customer.call('GET', path)).body;
  await until(async () => (await batch())['endedAt'] !== null, 'the batch ends');
  expect(await batch()).toEqual({
    batchId,
    livemode: true,
    mode: 'all',
    items: 2,
    accepted: 2,
    refused: 0,
    states: { queued: 0, processing: 0, completed: 2, failed: 0 },
    endedAt: expect.stringMatching(/^\d{4}-.*Z$/),
  });
  await customer.untilConsumed(40);
  const { events } = (await stack.ops(['streams', 'show', `credits-${customer.workspaceId}`])) as {
    events: { type: string; metadata: { correlationId: string } }[];
  };
  const reserved = events.filter(({ type }) => type === 'CreditsReserved');
  expect(reserved).toHaveLength(2);
  expect(new Set(reserved.map(({ metadata }) => metadata.correlationId)).size).toBe(1);
});

it('In mode all, a bulk is refused whole, and stores nothing, for one invalid reading or too few credits', async () => {
  const customer = await Integrator.open(stack, 40);
  const faulty = { ...person(), dateOfBirth: '2026-02-30', surprise: 1 };
  const invalid = await bulk(customer, { mode: 'all', readings: [person(), faulty] });
  expect([invalid.status, invalid.body.code]).toEqual([400, 'validation_failed']);
  const expected = ['/readings/1/surprise unknown_field', '/readings/1/dateOfBirth invalid_date'];
  expect(faults(invalid.body)).toEqual(expected);
  const headers = { 'idempotency-key': 'too-many' };
  const order = (count: number) => ({ mode: 'all', readings: Array.from({ length: count }, () => person()) });
  expect(await bulk(customer, order(3), headers)).toMatchObject({
    status: 402,
    body: { code: 'insufficient_credits', required: 60, available: 40 },
  });
  expect(await customer.balance()).toMatchObject({ available: 40, held: 0 });
  expect((await customer.call('GET', '/api/v1/readings')).body['data']).toEqual([]);
  // The key was not used up.
  expect((await bulk(customer, order(2), headers)).body).toMatchObject({ accepted: 2 });
});

it('In mode available, a bulk accepts what is valid and paid, in order, and leaves nothing when that is nothing', async () => {
  const customer = await Integrator.open(stack, 40);
  const readings = [person(), { ...person(), locale: 'de-DE' }, 7, person('Léa'), person('Zoé')];
  const body = { mode: 'available', readings };
  const first = await bulk(customer, body, { 'idempotency-key': 'some' });
  expect(first).toMatchObject({ status: 202, body: { accepted: 2, refused: 3 } });
  const codes = ['unsupported_locale', 'validation_failed'];
  expect(outcomes(first.body)).toEqual(['accepted', ...codes, 'accepted', 'insufficient_credits']);
  expect(first.body.items[1]!.problem!.errors).toMatchObject([{ pointer: '/locale' }]);
  const more = ['pack', 'add', '--workspace', customer.workspaceId, '--pack', 'flex', '--order', 'late'];
  await stack.ops(more);
  expect((await bulk(customer, body, { 'idempotency-key': 'some' })).body).toEqual(first.body);

  const headers = { 'idempotency-key': 'none at first' };
  const none = await bulk(customer, { mode: 'available', readings: [7, {}] }, headers);
  expect(none).toMatchObject({ status: 202, body: { batchId: null, accepted: 0, refused: 2 } });
  expect(none.headers.get('location')).toBeNull();
  const some = await bulk(customer, { mode: 'available', readings: [person(), {}] }, headers);
  expect(some.body).toMatchObject({ batchId: expect.any(String), accepted: 1, refused: 1 });
});

it('A bulk refuses what is dirty in one reading with that reading alone, as JSON and as lines, and names the line', async () => {
  const customer = await Integrator.open(stack, 200);
  const good = JSON.stringify(person());
  const dirty = (members: string) => good.replace('{', `{${members},`);
  const readings = [
    good,
    dirty('"externalId":"o\\u0000"'),
    dirty('"locale":"fr-FR"'),
    dirty('"__proto__":{}'),
    dirty('"metadata":{"n":1e999}'),
    dirty(`"metadata":${'['.repeat(3_000)}${']'.repeat(3_000)}`),
    good,
  ];
  const raw = `{"mode":"available","readings":[${readings.join(' , ')}]}`;
  const { status, body } = await customer.call<Answer>('POST', BULK, { raw });
  const accepted = body.items.map((item) => item.status === 'accepted');
  expect([status, accepted]).toEqual([202, [true, false, false, false, false, false, true]]);
  const asLines = await lines(customer, readings.join('\n'));
  const problems = ({ items }: Answer) => items.map(({ problem }) => problem);
  expect(problems(asLines.body)).toEqual(problems(body));

  const mixed = await lines(customer, `${good}\r\n\n{"locale":\n${good}\n{"a":1,"a":2}\n`);
  expect(mixed.body.items.map(({ line, problem }) => [line, problem?.code])).toEqual([
    [1, undefined],
    [3, 'malformed_json'],
    [4, undefined],
    [5, 'validation_failed'],
  ]);
  const all = await lines(customer, `${good}\n{\n`, '?mode=all');
  const detail = 'line 2: The body must be one JSON value in UTF-8';
  expect([all.status, all.body.errors]).toEqual([
    400,
    [{ pointer: '/readings/1', code: 'malformed_json', detail }],
  ]);
  for (const query of ['', '?mode=some'])
    expect((await lines(customer, good, query)).body.errors).toMatchObject([{ pointer: '?mode' }]);
});

it('A bulk in test mode is held by the test book alone, and its readings get the outcomes that they ask for', async () => {
  const live = await Integrator.open(stack, 40);
  const test = await live.inTestMode();
  const asking = (outcome: string) => ({ ...person(), metadata: { test_outcome: outcome } });
  const readings = [person(), asking('rate_limited'), asking('never'), asking('failed:timed_out')];
  const { body } = await bulk(test, { mode: 'available', readings });
  expect(outcomes(body)).toEqual(['accepted', 'rate_limited', 'validation_failed', 'accepted']);
  for (const { readingId } of body.items) if (readingId !== undefined) await test.untilEnded(readingId);
  const path = `/api/v1/batches/${body.batchId}`;
  const states = { completed: 1, failed: 1 };
  expect((await test.call('GET', path)).body).toMatchObject({ livemode: false, states });
  expect((await live.call('GET', path)).status).toBe(404);
  const left = async () => (await test.balance()).available;
  await until(async () => (await left()) === 9_980, 'a capture and a release in the test book');

  const all = (asked: string) => bulk(test, { mode: 'all', readings: [person(), asking(asked)] });
  expect(await all('unavailable')).toMatchObject({ status: 503, body: { code: 'enqueue_unavailable' } });
  const pointer = '/readings/1/metadata/test_outcome';
  expect((await all('never')).body.errors).toMatchObject([{ pointer }]);
  const inLive = await bulk(live, { mode: 'all', readings: [asking('delayed')] });
  expect([inLive.status, inLive.body.code]).toEqual([400, 'validation_failed']);
  expect(await live.balance()).toMatchObject({ available: 40, held: 0, consumed: 0 });
});

it('A bulk of 1,000 readings is taken from a caller with a valid key, and not waited for without one', async () => {
  const customer = await Integrator.open(stack, 40);
  const body = { mode: 'available', readings: Array.from({ length: 1_000 }, () => person()) };
  expect(await bulk(customer, body)).toMatchObject({ status: 202, body: { accepted: 2, refused: 998 } });
  const asked = request(stack.baseUrl + BULK, {
    method: 'POST',
    headers: { 'x-api-key': 'nonsense', 'content-length': '4000000' },
  });
  asked.flushHeaders();
  const [answer] = (await once(asked, 'response')) as [IncomingMessage];
  asked.on('error', () => undefined).destroy();
  expect(answer.statusCode).toBe(401);
});

it('A bulk that is not one as a whole is refused', async () => {
  const customer = await Integrator.open(stack, 20);
  for (const [body, ...expected] of [
    [{ mode: 'all', readings: [] }, '/readings too_few'],
    [{ mode: 'all', readings: Array.from({ length: 1_001 }, () => 0) }, '/readings too_many'],
    [{ mode: 'all' }, '/readings required'],
    [{ mode: 'all', readings: {} }, '/readings invalid_type'],
    [{ readings: [0] }, '/mode required'],
  ] as const) {
    const { status, body: answer } = await bulk(customer, body);
    expect([status, faults(answer)]).toEqual([400, expected]);
  }
  const long = { mode: 'all', readings: ['x'.repeat(4_200_000)] };
  expect(await bulk(customer, long)).toMatchObject({ status: 413 });
});
