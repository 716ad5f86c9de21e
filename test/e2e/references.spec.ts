import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import pg from 'pg';
import { Integrator, person, until } from '../support/integrator.js';
import { sharedStack, type Stack } from '../support/index.js';

interface Shown {
  readonly readingId: string;
  readonly createdAt: string;
  readonly externalId: string | null;
  readonly metadata: Record<string, string> | null;
}
interface Page {
  readonly data: readonly Shown[];
  readonly nextCursor: string | null;
}

let stack: Stack;
let customer: Integrator;

beforeAll(async () => {
  stack = await sharedStack();
  customer = await Integrator.open(stack, 400);
});

afterAll(async () => {
  await stack?.stop();
});

const create = async (references: object): Promise<Shown> => {
  const { status, body } = await customer.call<Shown>('POST', '/api/v1/readings', {
    body: { ...person(), ...references },
  });
  expect(status).toBe(202);
  await customer.untilEnded(body.readingId);
  return body;
};
const list = async (filters: Record<string, string>) =>
  (await customer.call<Page>('GET', `/api/v1/readings?${new URLSearchParams(filters).toString()}`)).body;
const idsOf = async (filters: Record<string, string>) =>
  (await list(filters)).data.map(({ readingId }) => readingId);

describe('the references of a reading', () => {
  it('are shown with it and in lists, find it, and are erased with it', async () => {
    const references = { externalId: 'order/ä 1', metadata: { shop: 'paris', toString: 'x' } };
    const mine = await create(references);
    expect(mine).toMatchObject(references);
    const twin = await create({ externalId: references.externalId });
    const plain = await create({});
    const shown = (await customer.call<Shown>('GET', `/api/v1/readings/${mine.readingId}`)).body;
    expect(shown).toMatchObject(references);
    expect((await list({})).data.map(({ externalId, metadata }) => ({ externalId, metadata }))).toEqual([
      { externalId: null, metadata: null },
      { externalId: references.externalId, metadata: null },
      references,
    ]);
    expect(await idsOf({ externalId: references.externalId })).toEqual([twin.readingId, mine.readingId]);
    expect(await idsOf({ externalId: 'order/ä' })).toEqual([]);
    const stranger = await Integrator.open(stack, 20);
    const others = await stranger.call<Page>('GET', '/api/v1/readings?externalId=order%2F%C3%A4%201');
    expect(others.body.data).toEqual([]);

    await stack.ops(['erase', mine.readingId, '--yes']);
    // Not found at once; shown until the row has the erasure.
    expect(await idsOf({ externalId: references.externalId })).toEqual([twin.readingId]);
    const path = `/api/v1/readings/${mine.readingId}`;
    await until(
      async () => (await customer.call<{ erasedAt: string | null }>('GET', path)).body.erasedAt !== null,
      () => 'the erasure of a reading',
    );
    const erased = { readingId: mine.readingId, externalId: null, metadata: null };
    expect((await customer.call<Shown>('GET', path)).body).toMatchObject(erased);
    expect((await list({})).data[2]).toMatchObject(erased);
    expect(plain.externalId).toBeNull();
  });

  it('are not found under an id that an unaccepted request left with the same key', async () => {
    const mine = await create({ externalId: 'accepted' });
    const client = new pg.Client({ connectionString: stack.databaseUrl });
    await client.connect();
    const other = await create({ externalId: 'left behind' });
    await client.query(
      `update platform.subject_key set lookups = lookups || (
         select lookups from platform.subject_key where subject_id = $2) where subject_id = $1`,
      [mine.readingId, other.readingId],
    );
    await client.end();
    expect(await idsOf({ externalId: 'left behind' })).toEqual([other.readingId]);
    expect(await idsOf({ externalId: 'accepted' })).toEqual([mine.readingId]);
  });
});

describe('the filters of the list of readings', () => {
  it('combine, and page by page give the same readings as at once', async () => {
    const made = [];
    for (const externalId of ['batch', 'batch', 'single', 'batch']) made.push(await create({ externalId }));
    const [first, second, third, fourth] = made.map(({ readingId }) => readingId);
    const [since, until] = [made[1]!.createdAt, made[3]!.createdAt];
    expect(await idsOf({ createdSince: since, createdUntil: until })).toEqual([third, second]);
    expect(await idsOf({ createdSince: since, externalId: 'batch' })).toEqual([fourth, second]);
    expect(await idsOf({ externalId: 'batch', status: 'failed' })).toEqual([]);
    const filters = { externalId: 'batch', createdSince: made[0]!.createdAt, status: 'completed' };
    const pages: string[] = [];
    let cursor: string | null = null;
    do {
      const page: Page = await list({ ...filters, limit: '1', ...(cursor !== null && { cursor }) });
      pages.push(...page.data.map(({ readingId }) => readingId));
      cursor = page.nextCursor;
    } while (cursor !== null);
    expect(pages).toEqual([fourth, second, first]);
  });

  it('that are ill-formed are refused all at once, each with its name', async () => {
    const refused = async (query: string) => {
      const { status, body } = await customer.call<{
        code: string;
        errors: { pointer: string; code: string }[];
      }>('GET', `/api/v1/readings?${query}`);
      return [status, body.code, ...body.errors.map(({ pointer, code }) => `${pointer} ${code}`)];
    };
    expect(await refused('status=lost&externalId=&createdSince=2026-02-30T00:00:00Z&createdUntil=1')).toEqual(
      [
        400,
        'validation_failed',
        '?status invalid_value',
        '?externalId invalid_value',
        '?createdSince invalid_value',
        '?createdUntil invalid_value',
      ],
    );
    const same = '2026-04-04T00:00:00Z';
    expect(await refused(`createdSince=${same}&createdUntil=${same}`)).toEqual([
      400,
      'validation_failed',
      '?createdUntil invalid_value',
    ]);
    expect(await refused('external_id=a')).toEqual([
      400,
      'unknown_parameter',
      '?external_id unknown_parameter',
    ]);
    const { nextCursor } = await list({ externalId: 'batch', limit: '1' });
    expect(await refused(`cursor=${nextCursor!}&externalId=single`)).toEqual([
      400,
      'validation_failed',
      '?cursor invalid_value',
    ]);
  });
});
