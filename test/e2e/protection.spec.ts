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
    'readings:read readings:write',
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
  ])('%s is for its caller alone', async (_, path, headers) => {
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

describe('The page that shows the API', () => {
  it('is made of what is served with it', async () => {
    const page = await fetch(`${stack.baseUrl}/docs`);
    const html = await page.text();
    expect(page.headers.get('content-security-policy')).toContain("default-src 'self'");
    const parts = [...html.matchAll(/(?:src|href)="([^"]+)"/g)].map(([, address = '']) => address);
    expect(parts.length).toBeGreaterThan(3);
    for (const part of parts) {
      const url = new URL(part, page.url);
      expect(url.origin).toBe(stack.baseUrl);
      expect([part, (await fetch(url)).status]).toEqual([part, 200]);
    }
    expect(html).not.toMatch(/<script>[^<]/);
  });
});

describe('The first check that fails answers', () => {
  const large = JSON.stringify({ ...person(), surplus: 'x'.repeat(17_000) });
  const text = { 'content-type': 'text/plain' };
  const zipped = { 'content-encoding': 'gzip' };

  it.each<[string, number, Record<string, string>, string]>([
    ['size before credentials', 413, { 'x-api-key': 'none', ...text }, large],
    ['credentials before media type', 401, { 'x-api-key': 'none', ...text }, '{'],
    ['credentials before the coding of the body', 401, { 'x-api-key': 'none', ...zipped }, '{'],
    ['media type before the body', 415, text, '{'],
    ['the coding of the body before the body', 415, zipped, '{'],
    ['the body before the idempotency key', 400, { 'idempotency-key': 'used' }, '{}'],
  ])('%s: %i', async (_, status, headers, raw) => {
    await customer.create(person(), { 'idempotency-key': 'used' });
    expect((await customer.call('POST', '/api/v1/readings', { raw, headers })).status).toBe(status);
  });

  it('the mode of the credentials before media type and body: 403', async () => {
    const answer = await fetch(`${stack.baseUrl}/api/v1/readings`, {
      method: 'POST',
      headers: { ...bearer, ...text },
      body: '{',
    });
    expect(answer.status).toBe(403);
  });

  it('the idempotency key before the credits: 422, and a repeated request costs none', async () => {
    const poor = await Integrator.open(stack, 20);
    const headers = { 'idempotency-key': 'one' };
    expect((await poor.create(person('Anaïs'), headers)).status).toBe(202);
    expect((await poor.create(person('Inès'), headers)).status).toBe(422);
    expect((await poor.create(person('Anaïs'), headers)).status).toBe(202);
    expect((await poor.create(person('Inès'))).status).toBe(402);
  });
});

describe('A request without a body of its own', () => {
  it('is not judged by the body that it has', async () => {
    const answer = await customer.call('DELETE', '/api/v1/webhooks/we_none', {
      raw: '{',
      headers: { 'content-type': 'text/plain' },
    });
    expect([answer.status, answer.body['code']]).toEqual([404, 'webhook_not_found']);
  });
});

describe('An answer kept for an Idempotency-Key', () => {
  it('is the same, byte for byte, after every process was killed at once', async () => {
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
    // Without the secret, which is shown once.
    const repeated = await endpoint();
    await stack.killAll();
    stack = await startStack({ dataDir });
    expect(await reading()).toEqual(first);
    expect(await endpoint()).toEqual(repeated);
  });
});
