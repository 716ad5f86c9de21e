import { beforeAll, describe, expect, it } from '@jest/globals';
import { NOTICES } from '#webhooks/http/event.schemas.js';
import { Integrator, person, until } from '../support/integrator.js';
import { fixture, sharedStack } from '../support/index.js';
import { thingsOf, type Ids } from './support/things.js';

const stack = fixture(sharedStack);
let customer: Integrator;
/** What the answers that the customer got point to. */
const found = new Set<string>();
let ids: Ids;

beforeAll(async () => {
  const opened = await Integrator.open(stack, 400);
  customer = Object.assign(Object.create(opened) as Integrator, {
    call: async (...request: Parameters<Integrator['call']>) => {
      const answer = await opened.call(...request);
      const location = answer.headers.get('location');
      for (const link of [...linksIn(answer.body), ...(location === null ? [] : [location])]) found.add(link);
      return answer;
    },
  });
  ids = await thingsOf(stack, customer);
});

/** Paths and URLs of the service, at any depth. */
const linksIn = (value: unknown): readonly string[] => {
  if (typeof value === 'string')
    return /^(https?:\/\/127\.|\/(api|d|docs|portal)\/)/.test(value) ? [value] : [];
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(linksIn) : [];
};
const follow = async (link: string, headers: Record<string, string>) => {
  const answer = await fetch(new URL(link, stack.baseUrl), { headers });
  const text = await answer.text();
  return answer.ok ? answer.status : (JSON.parse(text) as { code: string }).code;
};
const followAll = async (links: Iterable<string>, headers: Record<string, string>) =>
  Object.fromEntries(
    await Promise.all([...links].map(async (link) => [link, await follow(link, headers)] as const)),
  );

interface Event {
  readonly type: string;
  readonly data: { readonly links: Readonly<Record<string, string>> };
}
const formats = (document: string | number) => ({ document, markdown: document, pdf: document });

describe('A link leads somewhere as it stands', () => {
  it('in the body of each event', async () => {
    const test = await customer.inTestMode();
    for (const outcome of ['failed:timed_out', 'delayed'])
      await test.create({ ...person(), metadata: { test_outcome: outcome } });
    const eventsOf = async (caller: Integrator) =>
      (await caller.call<{ data: Event[] }>('GET', '/api/v1/events?limit=100')).body.data;
    await until(
      // At least these: a trial of an endpoint has events, too.
      async () => (await eventsOf(test)).length >= 4 && (await eventsOf(customer)).length >= 4,
      () => 'all readings are told',
    );
    const types = new Set<string>();
    for (const caller of [customer, test])
      for (const { type, data } of await eventsOf(caller)) {
        types.add(type);
        const statuses = Object.fromEntries(
          await Promise.all(
            Object.entries(data.links).map(
              async ([name, link]) => [name, await follow(link, { 'x-api-key': caller.apiKey })] as const,
            ),
          ),
        );
        expect(statuses).toEqual(
          type === 'reading.failed'
            ? { reading: 200, result: 'reading_failed', ...formats('document_not_available') }
            : { reading: 200, result: 200, ...formats(200) },
        );
      }
    expect(types.size).toBe(4);
  });

  it('in the body of each notice', async () => {
    const bearer = await customer.bearer('keys:read');
    const links = Object.values(NOTICES)
      .flatMap(({ example }) => linksIn(example))
      .map((link) =>
        link
          .replace(/we_[^/]+/, ids['endpointId']!)
          .replace(/(?<=replays\/).+/, ids['replayId']!)
          .replace(/(?<=batches\/).+/, ids['batchId']!),
      );
    expect(new Set(links).size).toBe(6);
    for (const link of new Set(links)) {
      const headers = link.endsWith('/keys') ? { ...bearer } : { 'x-api-key': customer.apiKey };
      expect([link, await follow(link, headers as Record<string, string>)]).toEqual([link, 200]);
    }
  });

  it('in each answer', async () => {
    for (const path of [
      'readings',
      'webhooks',
      'credits',
      `batches/${ids['batchId']}`,
      `readings/${ids['readingId']}/document/links`,
    ])
      await customer.call('GET', `/api/v1/${path}`);
    expect(found.size).toBeGreaterThan(10);
    const statuses = await followAll(found, { 'x-api-key': customer.apiKey });
    expect(Object.entries(statuses).filter(([, status]) => status !== 200)).toEqual([]);
  });
});
