import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Integrator, until } from '../support/integrator.js';
import { sharedStack, type Stack } from '../support/index.js';
import { keyCalls } from './support/key-calls.js';

let stack: Stack;
let customer: Integrator;
let other: Integrator;
let mint: ReturnType<typeof keyCalls>['mint'];
let call: ReturnType<typeof keyCalls>['call'];

beforeAll(async () => {
  stack = await sharedStack();
  ({ mint, call } = keyCalls(stack));
  [customer, other] = await Promise.all([Integrator.open(stack, 0), Integrator.open(stack, 0)]);
});

afterAll(async () => {
  await stack?.stop();
});

describe('the API keys of a workspace', () => {
  let token: Record<string, string>;

  beforeAll(async () => {
    token = await mint(customer.workspaceId, 'keys:read keys:write');
  });

  it('can be issued with a scoped token, work at once, are listed without secrets, and end within 5 s', async () => {
    const issued = await call('POST', '/keys', token, { label: 'nightly export' });
    expect(issued.status).toBe(201);
    const { keyId, apiKey } = issued.body as { keyId: string; apiKey: string };
    expect((await call('GET', '/credits', { 'x-api-key': apiKey })).status).toBe(200);

    const listed = await call('GET', '/keys', token);
    expect(listed.body['data']).toContainEqual(
      expect.objectContaining({ keyId, label: 'nightly export', expiresAt: null, revokedAt: null }),
    );
    expect(JSON.stringify(listed.body)).not.toContain(apiKey.slice(17));

    expect((await call('DELETE', `/keys/${keyId}`, token)).status).toBe(204);
    expect((await call('DELETE', `/keys/${keyId}`, token)).status).toBe(204);
    await until(
      async () => (await call('GET', '/credits', { 'x-api-key': apiKey })).status === 401,
      () => 'the key ends',
      5_000,
    );
  });

  it('are managed only by keys with keys:write, which only a bearer token or an operator gives', async () => {
    const key = { 'x-api-key': customer.apiKey };
    for (const [method, path, body] of [
      ['GET', '/keys', undefined],
      ['POST', '/keys', {}],
      ['POST', '/keys/Ab3dE6gH/rotate', {}],
      ['DELETE', '/keys/Ab3dE6gH', undefined],
    ] as const) {
      const answer = await call(method, path, key, body);
      expect([answer.status, answer.body]).toEqual([
        403,
        expect.objectContaining({ code: 'scope_missing', scope: 'keys:write' }),
      ]);
    }
  });

  it('belong to one workspace', async () => {
    const [, foreign = ''] = /^ek_live_(.{8})_/.exec(other.apiKey) ?? [];
    const refused = await call('DELETE', `/keys/${foreign}`, token);
    expect([refused.status, refused.body['code']]).toEqual([403, 'wrong_workspace']);
    for (const unknown of ['00000000', 'not-a-key']) {
      expect((await call('DELETE', `/keys/${unknown}`, token)).status).toBe(404);
    }
    const listed = await call('GET', '/keys', token);
    expect(JSON.stringify(listed.body)).not.toContain(foreign);
  });

  it.each([
    [{ label: '' }, '/label'],
    [{ label: 'x'.repeat(101) }, '/label'],
    [{ label: 5 }, '/label'],
    [{ expiresAt: 'tomorrow' }, '/expiresAt'],
    [{ expiresAt: '2020-01-01T00:00:00Z' }, '/expiresAt'],
    [{ workspaceId: 'ws_other' }, '/workspaceId'],
    [{ mode: 'production' }, '/mode'],
    [{ mode: null }, '/mode'],
    [{ scopes: [] }, '/scopes'],
    [{ scopes: 'readings:read' }, '/scopes'],
    [{ scopes: ['readings:read', 'readings:*'] }, '/scopes/1'],
    [{ scopes: [7] }, '/scopes/0'],
    [{ networks: ['203.0.113.7/24'] }, '/networks/0'],
    [{ networks: ['10.0.0.0/8', 'office'] }, '/networks/1'],
    [{ networks: [['10.0.0.0/8']] }, '/networks/0'],
    [{ networks: Array.from({ length: 33 }, (_, part) => `10.0.${part}.0/24`) }, '/networks'],
    [{ networks: '10.0.0.0/8' }, '/networks'],
  ])('are not issued for %j', async (body, pointer) => {
    const answer = await call('POST', '/keys', token, body);
    expect(answer.status).toBe(400);
    expect(answer.body['errors']).toEqual([expect.objectContaining({ pointer })]);
  });
});

describe('a bearer token', () => {
  it('is accepted only where the contract says so', async () => {
    const token = await mint(customer.workspaceId, 'webhooks:read webhooks:write credits:read');
    expect((await call('GET', '/credits', token)).status).toBe(200);
    expect((await call('GET', '/webhooks', token)).status).toBe(200);
    expect((await call('GET', '/keys', token)).status).toBe(403);
    for (const path of [
      '/readings/0d9c4b7e-0000-4000-8000-000000000000',
      '/readings/x/result',
      '/readings/x/document',
    ]) {
      const { status, body } = await call('GET', path, token);
      expect([status, body['code']]).toEqual([403, 'auth_mode_not_allowed']);
    }
  });

  it('is not issued for an unknown workspace or scope', async () => {
    await expect(mint('ws_0000000000000000000000', 'keys:read')).rejects.toThrow(/no workspace/);
    await expect(mint(customer.workspaceId, 'everything')).rejects.toThrow(/is not a scope/);
    // No route takes it from a token: only keys read readings.
    await expect(mint(customer.workspaceId, 'readings:read')).rejects.toThrow(/is not a scope/);
  });
});
