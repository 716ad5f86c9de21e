import { beforeEach, describe, expect, it } from '@jest/globals';
import { etagOf, ReadingServiceClient, StillUnderWay, type ClientOptions } from './index.js';
import { helpOf } from './problem-error.js';

type Answer = () => Response;

let looks: number[];
let requests: Headers[];
beforeEach(() => {
  [looks, requests] = [[], []];
});

/** A service that gives these answers one after another, with the ETags "0", "1", …, and repeats the last one. */
const serviceWith = (options: Partial<ClientOptions>, ...answers: readonly Answer[]) =>
  new ReadingServiceClient({
    ...{ baseUrl: 'http://readings.example', apiKey: 'k', longestPauseMs: 1 },
    fetch: async (_, init) => {
      looks.push(performance.now());
      requests.push(new Headers(init?.headers));
      const answer = answers[Math.min(looks.length, answers.length) - 1]!();
      answer.headers.set('etag', `"${looks.length - 1}"`);
      return answer;
    },
    ...options,
  });
const service = (...answers: readonly Answer[]) => serviceWith({}, ...answers);
const json =
  (body: object): Answer =>
  () =>
    Response.json(body);
const reading = (status: string, available: boolean) =>
  json({ status, erasedAt: null, document: { available } });
const refusal =
  (status: number, code: string, retryAfter: string): Answer =>
  () =>
    Response.json({ status, code, title: 'Sorry' }, { status, headers: { 'retry-after': retryAfter } });
const limited = refusal(429, 'rate_limited', '0');
const caught = (error: unknown): unknown => error;

describe('A wait for publication', () => {
  it('looks with held requests, and less and less often once there is nothing to hold them for', async () => {
    const { readings } = service(reading('queued', false), reading('completed', false));
    const waited = await readings.waitUntilDone('r', { timeoutMs: 2_500 }).catch(caught);
    expect(waited).toBeInstanceOf(StillUnderWay);
    expect(requests[0]!.get('prefer')).toMatch(/^wait=[123]$/);
    expect(looks.length).toBeGreaterThan(1);
    expect(looks.length).toBeLessThan(10);
  });

  it.each([
    ['429', limited],
    ['503', refusal(503, 'service_unavailable', '0')],
  ])('outlasts answers %s, more than one call retries', async (_, refused) => {
    const { readings } = service(refused, refused, refused, refused, reading('completed', true));
    expect(await readings.waitUntilDone('r')).toMatchObject({ document: { available: true } });
    expect(looks).toHaveLength(5);
  });

  it('waits for Retry-After, also when it is longer than a call would wait', async () => {
    const { readings } = service(refusal(429, 'rate_limited', '1'), reading('failed', false));
    expect(await readings.waitUntilDone('r')).toMatchObject({ status: 'failed' });
    // Timers fire up to a millisecond early.
    expect(looks[1]! - looks[0]!).toBeGreaterThan(998);
  });

  it('ends at its deadline while it is refused, and says why', async () => {
    const { readings } = service(refusal(503, 'service_unavailable', '3600'));
    const failure = await readings.waitUntilDone('r', { timeoutMs: 100 }).catch(caught);
    expect(failure).toBeInstanceOf(StillUnderWay);
    expect(failure).toMatchObject({ cause: { code: 'service_unavailable', retryAfterSeconds: 3_600 } });
  });

  it('ends at any other refusal', async () => {
    const { readings } = service(refusal(404, 'reading_not_found', '0'));
    expect(await readings.waitUntilDone('r').catch(caught)).toMatchObject({ code: 'reading_not_found' });
    expect(looks).toHaveLength(1);
  });
});

describe('The ETag of an endpoint', () => {
  const choice = { url: 'https://x.example' };

  it('is kept when it is created, and guards the next change', async () => {
    const { webhooks } = service(json({ endpointId: 'we_1', signingSecret: 'whsec_1' }));
    const endpoint = await webhooks.create(choice);
    await webhooks.update('we_1', { description: 'orders' }, { ifMatch: etagOf(endpoint) });
    expect(requests.map((headers) => headers.get('if-match'))).toEqual([null, '"0"']);
  });

  it('is that of the new secret when the first one was lost, with the endpoint as it is since', async () => {
    const { webhooks } = service(
      json({ endpointId: 'we_1', description: null, enabled: true }),
      json({ endpointId: 'we_1', description: 'orders', signingSecret: 'whsec_2' }),
    );
    const endpoint = await webhooks.create(choice);
    expect(endpoint).toMatchObject({ description: 'orders', signingSecret: 'whsec_2', enabled: true });
    expect(etagOf(endpoint)).toBe('"1"');
  });

  it('never goes missing in silence: without one, nothing is sent', async () => {
    const { webhooks } = service(json({ data: [{ endpointId: 'we_1' }], nextCursor: null }));
    for await (const listed of webhooks.list())
      await expect(webhooks.update('we_1', {}, { ifMatch: etagOf(listed) })).rejects.toThrow(
        /^ifMatch must be an ETag, but it is undefined/,
      );
    expect(requests).toHaveLength(1);
  });
});

describe('What no header can hold is refused before anything is sent', () => {
  const refused = (name: string) => `${name} must have only printable ASCII characters, without spaces`;

  it.each<[string, () => Promise<unknown>]>([
    ['a token', () => serviceWith({ apiKey: '', token: async () => 'two words' }).credits()],
    ['an idempotency key', () => service().readings.create({} as never, { idempotencyKey: 'commande-№5' })],
    ['an entity tag', () => service().webhooks.update('we_1', {}, { ifMatch: '"№5"' })],
  ])('in %s', async (_, call) => {
    expect(await call().catch(caught)).toMatchObject({ name: 'TypeError' });
    expect(requests).toEqual([]);
  });

  it('in a credential, which is not shown', () => {
    for (const apiKey of ['ek_live_1\nek_live_2', 'ek_№5', 'two words'])
      expect(() => serviceWith({ apiKey })).toThrow(refused('apiKey'));
  });
});

it('An option may have a space in a key, a line end after a credential, and the longest timeout with a wait', async () => {
  const client = serviceWith({ apiKey: 'ek_live_1\n', timeoutMs: 2 ** 31 - 1 }, reading('queued', false));
  await client.readings.create({} as never, { idempotencyKey: 'order 4711' });
  await client.readings.get('r', { waitSeconds: 20 });
  expect(requests).toHaveLength(2);
});

it.each([
  ['</docs/errors/rate_limited>; rel="help"', 'https://api.example/docs/errors/rate_limited'],
  ['</next>; rel="next", </docs/errors/not_found>; rel="help"', 'https://api.example/docs/errors/not_found'],
  ['</next>; rel="next"', null],
  ['<//[>; rel="help"', null],
  [null, null],
])('%j leads for help to %j', (link, help) => {
  expect(helpOf(link, 'https://api.example/api/v1/readings')).toBe(help);
});
