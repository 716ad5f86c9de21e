import { expect, it } from '@jest/globals';
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

it('A bulk of 1,000 readings is taken', async () => {
  const customer = await Integrator.open(stack, 40);
  const body = { mode: 'available', readings: Array.from({ length: 1_000 }, () => person()) };
  expect(await bulk(customer, body)).toMatchObject({ status: 202, body: { accepted: 2, refused: 998 } });
});

it('A bulk of lines names the line of each fault, and one that is none as a whole is refused', async () => {
  const customer = await Integrator.open(stack, 40);
  const good = JSON.stringify(person());
  const mixed = await lines(customer, `${good}\r\n\n{"locale":\n${good}\n{"a":1,"a":2}\n`);
  expect(mixed.body.items.map(({ line, problem }) => [line, problem?.code])).toEqual([
    [1, undefined],
    [3, 'malformed_json'],
    [4, undefined],
    [5, 'validation_failed'],
  ]);
  expect((await lines(customer, good, '?mode=some')).body.errors).toMatchObject([{ pointer: '?mode' }]);
  for (const [body, ...expected] of [
    [{ mode: 'all', readings: [] }, '/readings too_few'],
    [{ mode: 'all', readings: Array.from({ length: 1_001 }, () => 0) }, '/readings too_many'],
    [{ mode: 'all', readings: {} }, '/readings invalid_type'],
    [{ readings: [0] }, '/mode required'],
  ] as const)
    expect(faults((await bulk(customer, body)).body)).toEqual(expected);
});
