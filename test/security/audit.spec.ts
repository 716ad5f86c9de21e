import { beforeAll, expect, it } from '@jest/globals';
import type { AuditRecord } from '#platform/audit/audit-records.js';
import { fixture, sharedStack } from '../support/index.js';
import { Integrator, person, until } from '../support/integrator.js';

const CANARY = 'Zqcanary';
const stack = fixture(sharedStack);
const customer = fixture(() => Integrator.open(stack, 100));
let readingId: string;
let created: string;

const actorOf = ({ apiKey }: Integrator): string => `apiKey:${apiKey.split('_')[2]!}`;
/** Sends a request. @returns its id */
const ask = async (path: string, status = 200, by = customer): Promise<string> => {
  const answer = await by.call('GET', path);
  expect([path, answer.status]).toEqual([path, status]);
  return answer.headers.get('x-request-id')!;
};
/** The records of these requests: an answer can be sent before its record is written. */
const recordsOf = async (ids: readonly string[], ...filter: string[]): Promise<readonly AuditRecord[]> => {
  let found: readonly (AuditRecord | undefined)[] = [];
  await until(async () => {
    const { records } = (await stack.ops(['audit', ...filter])) as { records: readonly AuditRecord[] };
    found = ids.map((id) => records.find(({ requestId }) => requestId === id));
    return found.every((one) => one !== undefined);
  }, 'the requests are recorded');
  return found as readonly AuditRecord[];
};

beforeAll(async () => {
  const { body, headers } = await customer.create(person(CANARY));
  readingId = body.readingId;
  created = headers.get('x-request-id')!;
  await customer.untilEnded(readingId);
  await customer.untilTold(2);
});

it('The records of a reading say who created it and who read it, with which key, from where', async () => {
  const paths = ['', '/result', '/document?format=pdf'];
  const ids: string[] = [];
  for (const path of paths) ids.push(await ask(`/api/v1/readings/${readingId}${path}`));
  const [first, ...reads] = await recordsOf([created, ...ids], '--reading', readingId);
  const by = { actor: actorOf(customer), workspaceId: customer.workspaceId, address: '127.0.0.1', readingId };
  expect(first).toMatchObject({ ...by, method: 'POST', route: '/api/v1/readings', personal: false });
  expect(reads).toMatchObject(
    ['', '/result', '/document'].map((path) => ({
      ...by,
      route: `/api/v1/readings/:readingId${path}`,
      personal: true,
    })),
  );
});

it('The records say also who read personal data in a list, in an event, and in the feed', async () => {
  const feed = await customer.call<{ data: { id: string }[] }>('GET', '/api/v1/events');
  const ids: string[] = [];
  for (const path of ['readings', `events/${feed.body.data[0]!.id}`, 'events', 'events?type=credits.low'])
    ids.push(await ask(`/api/v1/${path}`));
  const records = await recordsOf(ids, '--workspace', customer.workspaceId);
  expect(records.map((one) => [one.readingId, one.personal])).toEqual([
    [null, true],
    [readingId, true],
    [null, true],
    [null, true],
  ]);
});

it('The records of a reading have also who was refused', async () => {
  const narrow = await customer.withKey('--scopes', 'credits:read');
  const stranger = await Integrator.open(stack, 0);
  const path = `/api/v1/readings/${readingId}`;
  const refused = [await ask(path, 403, narrow), await ask(path, 403, stranger)];
  expect(await recordsOf(refused, '--reading', readingId, '--refused')).toMatchObject([
    { actor: actorOf(narrow), workspaceId: customer.workspaceId, status: 403 },
    { actor: actorOf(stranger), workspaceId: stranger.workspaceId, status: 403 },
  ]);
});

it('Refused requests are recorded by the pattern of their route, without the input', async () => {
  const odd = { 'x-api-key': `${CANARY}-key`, 'user-agent': CANARY, cookie: CANARY };
  const own = { 'x-api-key': customer.apiKey, 'content-type': 'application/json' };
  const ids: string[] = [];
  for (const [status, method, path, headers, body] of [
    [401, 'GET', `/api/v1/readings/${CANARY}?name=${CANARY}`, odd, undefined],
    [404, 'GET', `/${CANARY}/unknown?${CANARY}`, odd, undefined],
    [405, 'PUT', '/api/v1/readings', odd, undefined],
    [413, 'POST', '/api/v1/readings', odd, CANARY.repeat(3_000)],
    [400, 'POST', '/api/v1/readings', own, JSON.stringify({ [CANARY]: CANARY })],
    [404, 'GET', `/api/v1/readings/${CANARY}`, own, undefined],
  ] as const) {
    const answer = await fetch(stack.baseUrl + path, { method, headers, ...(body && { body }) });
    expect([path, answer.status]).toEqual([path, status]);
    ids.push(answer.headers.get('x-request-id')!);
  }
  const reading = '/api/v1/readings/:readingId';
  expect((await recordsOf(ids, '--refused')).map(({ route }) => route)).toEqual([
    ...[reading, 'unmatched', 'unmatched', '/api/v1/readings', '/api/v1/readings', reading],
  ]);
  const texts = await stack.query('select from platform.audit_record one where one::text like $1', [
    `%${CANARY}%`,
  ]);
  expect(texts).toEqual([]);
});
