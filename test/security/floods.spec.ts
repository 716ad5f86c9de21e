import { describe, expect, it } from '@jest/globals';
import { operations, requestOf } from '../support/described-requests.js';
import { Integrator, until } from '../support/integrator.js';
import { fixture, sharedStack, startApi } from '../support/index.js';

/** The requests of one address at once in this test, half of them without valid credentials. A minute gives ten times as many. */
const BURST = 12;

const stack = fixture(sharedStack);
const api = fixture(() =>
  startApi(stack, {
    RATE_PUBLIC_PER_MINUTE: String(10 * BURST),
    // Lets a test choose its address.
    TRUSTED_PROXIES: '1',
  }),
);
const customer = fixture(() => Integrator.open(stack, 0));

type Headers = Readonly<Record<string, string>>;
interface Asked {
  readonly method?: string;
  readonly path: string;
  readonly headers?: Headers;
  readonly body?: string;
}

const ask = ({ method = 'GET', path, headers = {}, body }: Asked, from: string): Promise<Response> =>
  fetch(api.baseUrl + path, {
    method,
    headers: { 'x-forwarded-for': from, ...headers },
    redirect: 'manual',
    ...(body === undefined ? {} : { body }),
  });

/** Sends the same request repeatedly, a burst at once: one after the other, a slow machine sends no flood. @returns the counts and the last refusal, or the last answer */
const flood = async (asked: Asked, from: string | ((n: number) => string)) => {
  const statuses: number[] = [];
  let last: Response | undefined;
  const send = async (n: number): Promise<void> => {
    const answer = await ask(asked, typeof from === 'string' ? from : from(n));
    await answer.clone().arrayBuffer();
    statuses.push(answer.status);
    if (answer.status === 429 || last?.status !== 429) last = answer;
  };
  for (let n = 0; n < 3 * BURST; n += BURST)
    await Promise.all(Array.from({ length: BURST }, (_, index) => send(n + index)));
  const refused = statuses.filter((status) => status === 429).length;
  return { refused, last: last! };
};

let addresses = 0;
/** An address that no other test uses. */
const newAddress = (): string => `198.51.${Math.floor((addresses += 1) / 250)}.${addresses % 250}`;

const PROBES = ['/healthz', '/readyz'];
const publicRoutes = operations.filter(
  ({ path, security }) => security.length === 0 && !PROBES.includes(path),
);
const guarded = operations.filter(({ security }) => security.length > 0);
const json: Headers = { 'content-type': 'application/json' };
const BODY = JSON.stringify({ a: 'x'.repeat(16_000) });

describe('A flood without credentials from one address', () => {
  it.each<readonly [string, Asked]>([
    ...publicRoutes.map(({ path }) => [`GET ${path}`, { path }] as const),
    ['GET /openapi.json', { path: '/openapi.json' }],
    ['GET /docs', { path: '/docs' }],
    ['an asset of the page', { path: '/docs/assets/swagger-ui-bundle.js' }],
    ['a path that does not exist', { path: '/nothing' }],
    ['OPTIONS', { method: 'OPTIONS', path: '/api/v1/readings' }],
    ['a guarded route without credentials', { path: '/api/v1/credits' }],
    [
      'more than 16 KiB of body',
      { method: 'POST', path: '/api/v1/readings', headers: json, body: BODY + BODY },
    ],
    ['malformed keys', { path: '/api/v1/credits', headers: { 'x-api-key': 'none' } }],
  ])('is refused with the time to retry: %s', async (_, asked) => {
    const address = newAddress();
    const { refused, last } = await flood(asked, address);
    expect(refused).toBeGreaterThan(0);
    expect([last.status, Number(last.headers.get('retry-after')) > 0]).toEqual([429, true]);
    expect(last.headers.get('content-type')).toBe('application/problem+json');
    expect(await last.json()).toMatchObject({ code: 'rate_limited' });
    // It affects neither a caller with a valid key nor another address.
    const right = { path: '/api/v1/credits', headers: { 'x-api-key': customer.apiKey } };
    expect((await ask(right, address)).status).not.toBe(429);
    expect((await ask(asked, newAddress())).status).not.toBe(429);
  });

  it('counts over all routes together', async () => {
    const address = newAddress();
    for (const operation of guarded.slice(0, 5)) {
      const { method, target } = requestOf(operation, {});
      // A slow machine gives a token back between the two.
      const isRefused = async () => {
        await flood({ path: '/nothing' }, address);
        return (await ask({ method, path: target }, address)).status === 429;
      };
      await until(isRefused, () => `${target} is refused after a flood elsewhere`);
    }
  });

  it.each(PROBES)('does not affect probes, which have their own bucket: %s', async (path) => {
    const address = newAddress();
    await flood({ path: '/nothing' }, address);
    for (let n = 0; n < BURST * 3; n += 1)
      // A busy machine is not ready for a moment, and says so: that is an answer, too.
      expect([200, 503]).toContain((await ask({ path: `${path}?at=${n}` }, address)).status);
  });
});

/** libs/platform/src/rate-limit/address.spec.ts has the spellings. */
it('One address is the one that the trusted proxy adds, whatever the caller wrote before it', async () => {
  const address = newAddress();
  const { refused } = await flood({ path: '/nothing' }, (n) => `192.0.2.${n}, ${address}`);
  expect(refused).toBeGreaterThan(0);
  const others = await flood({ path: '/nothing' }, (n) => `2001:db8:77:${n}::1`);
  expect(others.refused).toBe(0);
});
