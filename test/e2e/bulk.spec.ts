import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { once } from 'node:events';
import { request, type IncomingMessage } from 'node:http';
import { Integrator, person, until } from '../support/integrator.js';
import { sharedStack, type Stack } from '../support/index.js';

interface Item {
  readonly index: number;
  readonly line?: number;
  readonly status: 'accepted' | 'refused';
  readonly readingId?: string;
  readonly problem?: { code: string; status: number; errors?: { pointer: string; code: string }[] };
}
interface Answer {
  readonly batchId: string;
  readonly accepted: number;
  readonly refused: number;
  readonly items: readonly Item[];
  readonly code: string;
  readonly required: number;
  readonly available: number;
  readonly errors: readonly { pointer: string; code: string; detail: string }[];
}

let stack: Stack;

beforeAll(async () => {
  stack = await sharedStack();
});

afterAll(async () => {
  await stack?.stop();
});

const bulk = (customer: Integrator, body: unknown, headers: Record<string, string> = {}) =>
  customer.call<Answer>('POST', '/api/v1/readings/bulk', { body: body as object, headers });
const lines = async (customer: Integrator, text: string, query = '?mode=available') => {
  const response = await fetch(`${stack.baseUrl}/api/v1/readings/bulk${query}`, {
    method: 'POST',
    headers: { 'x-api-key': customer.apiKey, 'content-type': 'application/x-ndjson' },
    body: text,
  });
  return { status: response.status, body: (await response.json()) as Answer };
};
const outcomes = ({ items }: Answer) => items.map(({ status, problem }) => (problem ? problem.code : status));

describe('a bulk request', () => {
  it('accepts each reading under an id of its own, with one entry in the ledger, and counts their states', async () => {
    const customer = await Integrator.open(stack, 100);
    const headers = { 'idempotency-key': 'bulk-1' };
    const body = {
      mode: 'all',
      readings: [person(), { ...person('Léa'), externalId: 'in a batch' }, person('Zoé')],
    };
    const first = await bulk(customer, body, headers);
    expect(first.status).toBe(202);
    expect(first.body).toMatchObject({ accepted: 3, refused: 0 });
    expect(first.headers.get('location')).toBe(`/api/v1/batches/${first.body.batchId}`);
    const ids = first.body.items.map(({ readingId }) => readingId!);
    expect(new Set(ids).size).toBe(3);

    const again = await bulk(customer, body, headers);
    expect([again.status, again.headers.get('idempotency-replayed')]).toEqual([202, 'true']);
    expect(again.body).toEqual(first.body);
    for (const other of [
      { ...body, readings: [...body.readings.slice(0, 2), person('Anna')] },
      { ...body, readings: body.readings.slice(0, 2) },
      { ...body, mode: 'available' },
    ])
      expect(await bulk(customer, other, headers)).toMatchObject({
        status: 422,
        body: { code: 'idempotency_key_reused' },
      });

    const showBatch = () => customer.call('GET', `/api/v1/batches/${first.body.batchId}`);
    await until(
      async () => (await showBatch()).body['endedAt'] !== null,
      () => 'the batch ends',
    );
    const batch = await showBatch();
    expect(batch.body).toEqual({
      batchId: first.body.batchId,
      livemode: true,
      mode: 'all',
      items: 3,
      accepted: 3,
      refused: 0,
      states: { queued: 0, processing: 0, completed: 3, failed: 0 },
      endedAt: expect.stringMatching(/^\d{4}-.*Z$/),
    });
    await until(
      async () => (await customer.balance()).consumed === 60,
      () => 'three captures',
    );
    const events = (await stack.ops(['streams', 'show', `credits-${customer.workspaceId}`])) as {
      events: { type: string; metadata: { occurredAt: string; correlationId: string } }[];
    };
    const reserved = events.events.filter(({ type }) => type === 'CreditsReserved');
    expect(reserved).toHaveLength(3);
    expect(new Set(reserved.map(({ metadata }) => metadata.correlationId)).size).toBe(1);
    const stranger = await Integrator.open(stack, 20);
    const path = `/api/v1/batches/${first.body.batchId}`;
    expect((await stranger.call('GET', path)).status).toBe(403);
    expect(await customer.call('GET', path.replace(/.$/, 'g'))).toMatchObject({
      status: 404,
      body: { code: 'batch_not_found' },
    });
  });

  it('in mode all is refused whole, and stores nothing, for one invalid reading or too few credits', async () => {
    const customer = await Integrator.open(stack, 40);
    const faulty = { ...person(), dateOfBirth: '2026-02-30', surprise: 1 };
    const invalid = await bulk(customer, { mode: 'all', readings: [person(), faulty] });
    expect([invalid.status, invalid.body.code]).toEqual([400, 'validation_failed']);
    expect(invalid.body.errors.map(({ pointer, code }) => `${pointer} ${code}`)).toEqual([
      '/readings/1/surprise unknown_field',
      '/readings/1/dateOfBirth invalid_date',
    ]);
    const headers = { 'idempotency-key': 'too-many' };
    const three = { mode: 'all', readings: [person(), person(), person()] };
    const dear = await bulk(customer, three, headers);
    expect([dear.status, dear.body.code]).toEqual([402, 'insufficient_credits']);
    expect(dear.body).toMatchObject({ required: 60, available: 40 });
    expect(await customer.balance()).toMatchObject({ available: 40, held: 0 });
    expect((await customer.call<{ data: unknown[] }>('GET', '/api/v1/readings')).body.data).toEqual([]);
    // The key was not used up.
    const two = { mode: 'all', readings: [person(), person()] };
    expect((await bulk(customer, two, headers)).body).toMatchObject({ accepted: 2 });
  });

  it('in mode available accepts what is valid and paid, in order', async () => {
    const customer = await Integrator.open(stack, 40);
    const headers = { 'idempotency-key': 'some' };
    const readings = [person(), { ...person(), locale: 'de-DE' }, 7, person('Léa'), person('Zoé')];
    const { status, body } = await bulk(customer, { mode: 'available', readings }, headers);
    expect([status, body.accepted, body.refused]).toEqual([202, 2, 3]);
    expect(outcomes(body)).toEqual([
      'accepted',
      'unsupported_locale',
      'validation_failed',
      'accepted',
      'insufficient_credits',
    ]);
    expect(body.items[1]!.problem!.errors).toMatchObject([{ pointer: '/locale' }]);
    await stack.ops([
      'pack',
      'add',
      '--workspace',
      customer.workspaceId,
      '--pack',
      'flex',
      '--order',
      'late',
    ]);
    const again = await bulk(customer, { mode: 'available', readings }, headers);
    expect(again.body).toEqual(body);
  });

  it('that accepts nothing leaves no batch, and does not use up its key', async () => {
    const customer = await Integrator.open(stack, 20);
    const headers = { 'idempotency-key': 'none at first' };
    const none = await bulk(customer, { mode: 'available', readings: [7, {}] }, headers);
    expect(none).toMatchObject({ status: 202, body: { batchId: null, accepted: 0, refused: 2 } });
    expect(none.headers.get('location')).toBeNull();
    const some = await bulk(customer, { mode: 'available', readings: [person(), {}] }, headers);
    expect(some.body).toMatchObject({ batchId: expect.any(String), accepted: 1, refused: 1 });
  });

  it('refuses what is dirty in one reading with that reading alone, as JSON and as lines', async () => {
    const customer = await Integrator.open(stack, 100);
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
    const asJson = await fetch(`${stack.baseUrl}/api/v1/readings/bulk`, {
      method: 'POST',
      headers: { 'x-api-key': customer.apiKey, 'content-type': 'application/json' },
      body: `{"mode":"available","readings":[${readings.join(' , ')}]}`,
    });
    expect(asJson.status).toBe(202);
    const { items } = (await asJson.json()) as Answer;
    expect(items.map(({ status }) => status === 'accepted')).toEqual([
      true,
      ...Array<boolean>(5).fill(false),
      true,
    ]);
    const asLines = await lines(customer, readings.join('\n'));
    const problems = (all: readonly Item[]) => all.map(({ problem }) => problem);
    expect(problems(items)).toEqual(problems(asLines.body.items));
  });

  it('takes lines of JSON, and names the line that does not parse', async () => {
    const customer = await Integrator.open(stack, 100);
    const one = JSON.stringify(person());
    const { status, body } = await lines(customer, `${one}\r\n\n{"locale":\n${one}\n{"a":1,"a":2}\n`);
    expect([status, body.accepted]).toEqual([202, 2]);
    expect(body.items.map(({ line, problem }) => [line, problem?.code])).toEqual([
      [1, undefined],
      [3, 'malformed_json'],
      [4, undefined],
      [5, 'validation_failed'],
    ]);
    const all = await lines(customer, `${one}\n{\n`, '?mode=all');
    expect(all.status).toBe(400);
    expect(all.body.errors).toEqual([
      {
        pointer: '/readings/1',
        code: 'malformed_json',
        detail: 'line 2: The body must be one JSON value in UTF-8',
      },
    ]);
    expect((await lines(customer, one, '')).body.errors).toMatchObject([
      { pointer: '?mode', code: 'required' },
    ]);
    expect((await lines(customer, one, '?mode=some')).body.errors).toMatchObject([{ pointer: '?mode' }]);
  });

  it('in test mode is held by the test book alone, and its readings get the outcomes that they ask for', async () => {
    const live = await Integrator.open(stack, 40);
    const customer = await live.inTestMode();
    const asking = (outcome: string) => ({ ...person(), metadata: { test_outcome: outcome } });
    const readings = [
      person(),
      asking('rate_limited'),
      asking('never'),
      asking('failed:timed_out'),
      person(),
    ];
    const { status, body } = await bulk(customer, { mode: 'available', readings });
    expect(status).toBe(202);
    expect(outcomes(body)).toEqual(['accepted', 'rate_limited', 'validation_failed', 'accepted', 'accepted']);
    const ids = body.items.flatMap(({ readingId }) => readingId ?? []);
    for (const id of ids) await customer.untilEnded(id);
    const path = `/api/v1/batches/${body.batchId}`;
    expect((await customer.call('GET', path)).body).toMatchObject({
      livemode: false,
      states: { completed: 2, failed: 1 },
    });
    expect((await live.call('GET', path)).status).toBe(404);
    await until(
      async () => (await customer.balance()).available === 9_960,
      () => 'two captures and a release in the test book',
    );
    expect(await live.balance()).toMatchObject({ available: 40, held: 0, consumed: 0 });

    const all = (asked: string) => bulk(customer, { mode: 'all', readings: [person(), asking(asked)] });
    expect(await all('unavailable')).toMatchObject({ status: 503, body: { code: 'enqueue_unavailable' } });
    expect((await all('never')).body.errors).toMatchObject([
      { pointer: '/readings/1/metadata/test_outcome' },
    ]);
    const inLive = await bulk(live, { mode: 'all', readings: [asking('delayed')] });
    expect([inLive.status, inLive.body.code]).toEqual([400, 'validation_failed']);
    expect(await live.balance()).toMatchObject({ available: 40 });
  });

  it('of 1,000 readings is taken from a caller with a valid key, and not waited for without one', async () => {
    const customer = await Integrator.open(stack, 40);
    const body = { mode: 'available', readings: Array.from({ length: 1_000 }, () => person()) };
    expect(await bulk(customer, body)).toMatchObject({ status: 202, body: { accepted: 2, refused: 998 } });
    const asked = request(`${stack.baseUrl}/api/v1/readings/bulk`, {
      method: 'POST',
      headers: { 'x-api-key': 'nonsense', 'content-length': '4000000' },
    });
    asked.flushHeaders();
    const [answer] = (await once(asked, 'response')) as [IncomingMessage];
    asked.on('error', () => undefined).destroy();
    expect(answer.statusCode).toBe(401);
  });

  it('that is not one as a whole is refused', async () => {
    const customer = await Integrator.open(stack, 20);
    for (const [body, ...expected] of [
      [{ mode: 'all', readings: [] }, '/readings too_few'],
      [{ mode: 'all', readings: Array.from({ length: 1_001 }, () => 0) }, '/readings too_many'],
      [{ mode: 'all' }, '/readings required'],
      [{ mode: 'all', readings: {} }, '/readings invalid_type'],
      [{ readings: [0] }, '/mode required'],
      [{ mode: 'any', readings: [0], more: 1 }, '/more unknown_field'],
      [[], ' invalid_type'],
    ] as const) {
      const { status, body: answer } = await bulk(customer, body);
      expect([status, answer.errors.map(({ pointer, code }) => `${pointer} ${code}`)]).toEqual([
        400,
        expected,
      ]);
    }
    const long = { mode: 'all', readings: ['x'.repeat(4_200_000)] };
    expect(await bulk(customer, long)).toMatchObject({ status: 413 });
  });
});
