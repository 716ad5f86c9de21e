import { describe, expect, it } from '@jest/globals';
import { fixture, sharedStack, startReceiver } from '../support/index.js';
import { Integrator, person, until, type Reading } from '../support/integrator.js';

interface Page {
  readonly data: readonly Reading[];
  readonly nextCursor: string | null;
}
type Event = { readonly readingId: string; readonly externalId?: string | null };

const stack = fixture(sharedStack);
const customer = fixture(() => Integrator.open(stack, 400));
const receiver = fixture(startReceiver);

const create = async (references: object = {}): Promise<string> =>
  customer.published({ ...person(), ...references });
const list = async (filters: Record<string, string> = {}, by = customer) =>
  (await by.call<Page>('GET', `/api/v1/readings?${new URLSearchParams(filters).toString()}`)).body;
const idsOf = async (filters: Record<string, string>) =>
  (await list(filters)).data.map(({ readingId }) => readingId);
const erase = (readingId: string) => stack.ops(['erase', readingId, '--yes']);

describe('the references of a reading', () => {
  it('are shown with it and in lists, find it, and are erased with it', async () => {
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

    await erase(mine);
    // Not found at once; shown until the row has the erasure.
    expect(await idsOf({ externalId })).toEqual([twin]);
    await until(async () => (await customer.reading(mine))['erasedAt'] !== null, 'the erasure of a reading');
    for (const shown of [await customer.reading(mine), (await list()).data[2]])
      expect(shown).toMatchObject({ readingId: mine, ...none });
  });

  it('reach webhooks and the feed only as the external id, and only while the workspace wants that', async () => {
    await customer.endpoint(receiver, { events: ['reading.completed'] });
    const sent = async (readingId: string): Promise<Event> => {
      const found = () => receiver.received.find(({ event }) => event.readingId === readingId);
      await until(() => found() !== undefined, 'a webhook');
      return found()!.event;
    };
    const pulled = async (readingId: string) => {
      const feed = await customer.call<{ data: Event[] }>('GET', '/api/v1/events?type=reading.completed');
      return feed.body.data.find((event) => event.readingId === readingId)!;
    };
    const references = { externalId: 'told "once"', metadata: { shop: 'untold' } };
    const mine = await create(references);
    const event = await sent(mine);
    expect(event.externalId).toBe(references.externalId);
    expect(await pulled(mine)).toEqual(event);
    expect(JSON.stringify(event)).not.toContain('untold');
    expect((await sent(await create())).externalId).toBeNull();

    const choose = (choice: string) =>
      stack.ops(['workspace', 'webhooks', '--workspace', customer.workspaceId, '--external-id', choice]);
    expect(await choose('off')).toMatchObject({ outcome: 'chosen' });
    expect(await choose('off')).toMatchObject({ outcome: 'unchanged' });
    await until(
      async () => !('externalId' in (await sent(await create(references)))),
      'the choice to be projected',
    );
    expect((await pulled(mine)).externalId).toBe(references.externalId);
    await erase(mine);
    await until(async () => (await pulled(mine)).externalId === null, 'the erasure');
    await choose('on');
  });

  it('are not found under an id that an unaccepted request left with the same key', async () => {
    const [mine, other] = [
      await create({ externalId: 'accepted' }),
      await create({ externalId: 'left behind' }),
    ];
    await stack.query(
      `update platform.subject_key set lookups = lookups || (
         select lookups from platform.subject_key where subject_id = $2) where subject_id = $1`,
      [mine, other],
    );
    expect(await idsOf({ externalId: 'left behind' })).toEqual([other]);
    expect(await idsOf({ externalId: 'accepted' })).toEqual([mine]);
  });
});

describe('the filters of the list of readings', () => {
  it('combine, and page by page give the same readings as at once', async () => {
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

  it('that are ill-formed are refused all at once, each with its name', async () => {
    const same = '2026-04-04T00:00:00Z';
    const { nextCursor } = await list({ limit: '1' });
    for (const [query, code, ...errors] of [
      [
        'status=lost&externalId=&createdSince=2026-02-30T00:00:00Z&createdUntil=1',
        'validation_failed',
        ...['?status', '?externalId', '?createdSince', '?createdUntil'].map(
          (name) => `${name} invalid_value`,
        ),
      ],
      [`createdSince=${same}&createdUntil=${same}`, 'validation_failed', '?createdUntil invalid_value'],
      ['external_id=a', 'unknown_parameter', '?external_id unknown_parameter'],
      [`cursor=${nextCursor!}&externalId=single`, 'validation_failed', '?cursor invalid_value'],
    ] as const) {
      const { status, body } = await customer.call('GET', `/api/v1/readings?${query}`);
      const found = (body['errors'] as { pointer: string; code: string }[]).map(
        (one) => `${one.pointer} ${one.code}`,
      );
      expect([status, body['code'], ...found]).toEqual([400, code, ...errors]);
    }
  });
});
