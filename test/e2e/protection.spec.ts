import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Integrator, person } from '../support/integrator.js';
import { removeDataFolder, startStack, temporaryDataDir, type StartedStack } from '../support/index.js';

const dataDir = temporaryDataDir();
let stack: StartedStack;
let customer: Integrator;
let bearer: Record<string, string>;

beforeAll(async () => {
  stack = await startStack({ dataDir });
  customer = await Integrator.open(stack, 1_000);
  const minted = await stack.ops([
    'token',
    'mint',
    '--workspace',
    customer.workspaceId,
    '--scope',
    'readings:write',
  ]);
  bearer = { authorization: `Bearer ${(minted as { token: string }).token}` };
});

afterAll(async () => {
  await stack?.stop();
  removeDataFolder(dataDir);
});

describe('Every answer', () => {
  it.each([
    ['of success', '/api/v1/credits', {}],
    ['of refusal', '/api/v1/credits', { 'x-api-key': 'none' }],
    ['to an unknown path', '/nothing', {}],
  ])('%s is private to its caller', async (_, path, headers) => {
    const answer = await customer.call('GET', path, {
      headers: { origin: 'https://evil.example', ...headers },
    });
    const told = Object.fromEntries(answer.headers);
    expect(told).toMatchObject({
      'strict-transport-security': expect.stringMatching(/^max-age=\d{8}/),
      'x-content-type-options': 'nosniff',
      'cache-control': 'no-store',
    });
    expect(
      Object.keys(told).filter((name) => /^access-control|^x-powered-by|^server$|cookie/.test(name)),
    ).toEqual([]);
  });
});

describe('The documentation', () => {
  const served = (path: string, headers: Record<string, string> = {}) =>
    fetch(`${stack.baseUrl}${path}`, { headers, redirect: 'manual' });

  it.each(['/docs', '/docs/reference', '/docs/errors/not_found', '/changelog'])(
    'loads on %s only assets that the service serves',
    async (path) => {
      const page = await served(path);
      const html = await page.text();
      const policy = page.headers.get('content-security-policy');
      expect(policy).toContain("default-src 'self'");
      expect(policy?.includes('unsafe-inline')).toBe(path === '/docs/reference');
      const parts = [...html.matchAll(/(?:src|href)="([^"#]+)"/g)].map(([, address = '']) => address);
      expect(parts.length).toBeGreaterThan(3);
      for (const part of new Set(parts.filter((address) => !address.startsWith('https:')))) {
        const url = new URL(part, page.url);
        expect(url.origin).toBe(stack.baseUrl);
        expect([part, (await fetch(url)).status]).toEqual([part, 200]);
      }
      expect(html).not.toMatch(/<script>[^<]/);
    },
  );

  it('is kept by caches, and asked for again by its ETag', async () => {
    const page = await served('/docs/webhooks');
    expect(page.headers.get('cache-control')).toBe('public, max-age=300');
    // As browsers do. Without this header, fetch adds `no-cache`, which asks for the whole page.
    const revalidate = { 'cache-control': 'max-age=0', 'if-none-match': page.headers.get('etag')! };
    const again = await served('/docs/webhooks', revalidate);
    expect([again.status, await again.text()]).toEqual([304, '']);
  });

  it('is where a problem leads', async () => {
    const refusal = await served('/api/v1/credits');
    expect(((await refusal.json()) as { type: string }).type).toBe('urn:problem:unauthenticated');
    const [, address = ''] = /^<(.+)>; rel="help"$/.exec(refusal.headers.get('link') ?? '') ?? [];
    expect(await (await served(address)).text()).toContain('<h1 id="unauthenticated">');
  });

  it('begins at / with links for people, and with addresses for programs', async () => {
    const page = await served('/', { accept: 'text/html,*/*;q=0.8' });
    expect([page.headers.get('content-type'), page.headers.get('vary')]).toEqual([
      'text/html; charset=utf-8',
      'Accept',
    ]);
    const addresses = Object.entries((await (await served('/')).json()) as Record<string, string>);
    for (const [name, address] of addresses.filter(([, value]) => value.startsWith('/')))
      expect([name, (await served(address)).status]).toEqual([name, 200]);
  });
});

describe('The order of checks', () => {
  const large = JSON.stringify({ ...person(), surplus: 'x'.repeat(17_000) });
  const text = { 'content-type': 'text/plain' };
  const zipped = { 'content-encoding': 'gzip' };

  it.each<[string, number, Record<string, string>, string]>([
    ['size before credentials', 413, { 'x-api-key': 'none', ...text }, large],
    ['credentials before media type', 401, { 'x-api-key': 'none', ...text }, '{'],
    ['credentials before content coding', 401, { 'x-api-key': 'none', ...zipped }, '{'],
    ['media type before body', 415, text, '{'],
    ['content coding before body', 415, zipped, '{'],
    ['body before idempotency key', 400, { 'idempotency-key': 'used' }, '{}'],
  ])('checks %s: %i', async (_, status, headers, raw) => {
    await customer.create(person(), { 'idempotency-key': 'used' });
    expect((await customer.call('POST', '/api/v1/readings', { raw, headers })).status).toBe(status);
  });

  it('checks the kind of credentials before media type and body: 403', async () => {
    const answer = await fetch(`${stack.baseUrl}/api/v1/readings`, {
      method: 'POST',
      headers: { ...bearer, ...text },
      body: '{',
    });
    expect(answer.status).toBe(403);
  });

  it('checks the idempotency key before the credits: 422, and a repeated request costs nothing', async () => {
    const poor = await Integrator.open(stack, 20);
    const headers = { 'idempotency-key': 'one' };
    expect((await poor.create(person('Anaïs'), headers)).status).toBe(202);
    expect((await poor.create(person('Inès'), headers)).status).toBe(422);
    expect((await poor.create(person('Anaïs'), headers)).status).toBe(202);
    expect((await poor.create(person('Inès'))).status).toBe(402);
  });
});

describe('A route that takes no body', () => {
  it('ignores the body of a request', async () => {
    const answer = await customer.call('DELETE', '/api/v1/webhooks/we_none', {
      raw: '{',
      headers: { 'content-type': 'text/plain' },
    });
    expect([answer.status, answer.body['code']]).toEqual([404, 'webhook_not_found']);
  });
});

describe('An answer kept for an Idempotency-Key', () => {
  it('is the same, byte for byte, after all processes were killed at once', async () => {
    const send = async (path: string, body: object, headers = {}) => {
      const answer = await fetch(`${stack.baseUrl}/api/v1${path}`, {
        method: 'POST',
        headers: {
          'x-api-key': customer.apiKey,
          'content-type': 'application/json',
          'idempotency-key': 'kept',
          ...headers,
        },
        body: JSON.stringify(body),
      });
      return { status: answer.status, location: answer.headers.get('location'), text: await answer.text() };
    };
    const reading = () => send('/readings', person('Anaïs'));
    const endpoint = () => send('/webhooks', { url: 'https://receiver.invalid/hook' });
    const first = await reading();
    await endpoint();
    // The repeated answer lacks the secret, which is shown once.
    const repeated = await endpoint();
    await stack.killAll();
    stack = await startStack({ dataDir });
    expect(await reading()).toEqual(first);
    expect(await endpoint()).toEqual(repeated);
  });
});
