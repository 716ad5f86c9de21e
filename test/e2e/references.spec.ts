import { expect, it } from '@jest/globals';
import { fixture, sharedStack } from '../support/index.js';
import { Integrator, person, until, type Reading } from '../support/integrator.js';

interface Page {
  readonly data: readonly Reading[];
  readonly nextCursor: string | null;
}

const stack = fixture(sharedStack);
const customer = fixture(() => Integrator.open(stack, 400));

const create = async (references: object = {}): Promise<string> =>
  customer.published({ ...person(), ...references });
const list = async (filters: Record<string, string> = {}, by = customer) =>
  (await by.call<Page>('GET', `/api/v1/readings?${new URLSearchParams(filters).toString()}`)).body;
const idsOf = async (filters: Record<string, string>) =>
  (await list(filters)).data.map(({ readingId }) => readingId);

it('The references of a reading are shown with it and in lists, find it, and are erased with it', async () => {
  const references = { externalId: 'order/ä 1', metadata: { shop: 'paris', toString: 'x' } };
  const { externalId } = references;
  const mine = await create(references);
  const twin = await create({ externalId });
  await create();
  const none = { externalId: null, metadata: null };
  expect(await customer.reading(mine)).toMatchObject(references);
  const listed = [none, { externalId, metadata: null }, references];
  expect(
    (await list()).data.map((one) => ({ externalId: one['externalId'], metadata: one['metadata'] })),
  ).toEqual(listed);
  expect(await idsOf({ externalId })).toEqual([twin, mine]);
  expect(await idsOf({ externalId: 'order/ä' })).toEqual([]);
  const stranger = await Integrator.open(stack, 0);
  expect((await list({ externalId }, stranger)).data).toEqual([]);

  await stack.ops(['erase', mine, '--yes']);
  // Not found at once; shown until the row has the erasure.
  expect(await idsOf({ externalId })).toEqual([twin]);
  await until(async () => (await customer.reading(mine))['erasedAt'] !== null, 'the erasure of a reading');
  for (const shown of [await customer.reading(mine), (await list()).data[2]])
    expect(shown).toMatchObject({ readingId: mine, ...none });
});

it('The filters of the list of readings combine, and page by page give the same readings as at once', async () => {
  const made: Reading[] = [];
  for (const externalId of ['batch', 'batch', 'single', 'batch'])
    made.push(await customer.reading(await create({ externalId })));
  const [first, second, third, fourth] = made.map(({ readingId }) => readingId);
  const [from, since, until] = [0, 1, 3].map((place) => String(made[place]!['createdAt']));
  expect(await idsOf({ createdSince: since!, createdUntil: until! })).toEqual([third, second]);
  expect(await idsOf({ createdSince: since!, externalId: 'batch' })).toEqual([fourth, second]);
  expect(await idsOf({ externalId: 'batch', status: 'failed' })).toEqual([]);
  const filters = { externalId: 'batch', createdSince: from!, status: 'completed' };
  const pages: string[] = [];
  let cursor: string | null = null;
  do {
    const page: Page = await list({ ...filters, limit: '1', ...(cursor !== null && { cursor }) });
    pages.push(...page.data.map(({ readingId }) => readingId));
    cursor = page.nextCursor;
  } while (cursor !== null);
  expect(pages).toEqual([fourth, second, first]);
});
