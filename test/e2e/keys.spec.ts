import { expect, it } from '@jest/globals';
import { API_KEY_SCOPES } from '#platform/auth/scopes.js';
import { fixture, sharedStack } from '../support/index.js';
import { Integrator, until, untilServed } from '../support/integrator.js';

type Credentials = Readonly<Record<string, string>>;
interface Issued {
  readonly keyId: string;
  readonly apiKey: string;
}

const stack = fixture(sharedStack);
const customer = fixture(() => Integrator.open(stack, 100));
/** A person who manages the keys of the workspace in the portal. */
const person = fixture(() => customer.bearer('keys:read keys:write'));
const owner = (): Credentials => ({ authorization: person.authorization });
const withKey = (apiKey: unknown): Credentials => ({ 'x-api-key': String(apiKey) });

const call = async (method: string, path: string, credentials: Credentials, body?: object) => {
  const answer = await fetch(`${stack.baseUrl}/api/v1${path}`, {
    method,
    headers: { ...credentials, ...(body && { 'content-type': 'application/json' }) },
    ...(body && { body: JSON.stringify(body) }),
  });
  const text = await answer.text();
  return { status: answer.status, body: JSON.parse(text || '{}') as Record<string, unknown> };
};
const issue = async (body: object, as = owner()): Promise<Issued> => {
  const issued = await call('POST', '/keys', as, body);
  expect([issued.status, issued.body['errors'] ?? null]).toEqual([201, null]);
  return issued.body as unknown as Issued;
};
const rotate = (keyId: string, body: object, as = owner()) => call('POST', `/keys/${keyId}/rotate`, as, body);
const worksWith = async (apiKey: unknown) => (await call('GET', '/credits', withKey(apiKey))).status;
const listed = async (as = owner()) => (await call('GET', '/keys', as)).body['data'] as object[];
const refused = async (answer: ReturnType<typeof call>) => {
  const { status, body } = await answer;
  const errors = (body['errors'] ?? []) as { pointer: string }[];
  return [status, body['code'], ...errors.map(({ pointer }) => pointer)];
};

it('A key can be issued with a scoped token, works at once, is listed without its secret, and ends within 5 s', async () => {
  const { keyId, apiKey } = await issue({ label: 'nightly export' });
  expect(await worksWith(apiKey)).toBe(200);
  const shown = { keyId, label: 'nightly export', expiresAt: null, revokedAt: null };
  expect(await listed()).toContainEqual(expect.objectContaining(shown));
  expect(JSON.stringify(await listed())).not.toContain(apiKey.slice(17));
  for (let time = 0; time < 2; time += 1)
    expect((await call('DELETE', `/keys/${keyId}`, owner())).status).toBe(204);
  await until(async () => (await worksWith(apiKey)) === 401, 'the key ends', 30_000);
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
  ...[-1, 604_801, 1.5, '5', null].map((overlapSeconds) => [{ overlapSeconds }, '/overlapSeconds'] as const),
])('A key is not issued or rotated for %j', async (body, pointer) => {
  const path = 'overlapSeconds' in body ? '/keys/Ab3dE6gH/rotate' : '/keys';
  expect(await refused(call('POST', path, owner(), body))).toEqual([400, 'validation_failed', pointer]);
});

it('A key with keys:write issues, rotates and revokes keys within its own scopes, and gives nothing beyond itself', async () => {
  const { keyId, apiKey } = await issue({ scopes: ['credits:read', 'webhooks:*', 'keys:write'] });
  const manager = withKey(apiKey);
  const issued = await issue({ scopes: ['credits:read'] }, manager);
  expect(issued).toMatchObject({ mode: 'live', scopes: ['credits:read'], networks: [] });
  const rotated = await rotate(issued.keyId, {}, manager);
  const successor = { scopes: ['credits:read'], previousKeyId: issued.keyId };
  expect([rotated.status, rotated.body]).toEqual([201, expect.objectContaining(successor)]);
  for (const one of [issued.apiKey, rotated.body['apiKey']]) expect(await worksWith(one)).toBe(200);
  expect((await call('DELETE', `/keys/${issued.keyId}`, manager)).status).toBe(204);

  // What it has when it asks for nothing, but never keys:write.
  expect(await issue({}, manager)).toMatchObject({
    scopes: ['webhooks:read', 'webhooks:write', 'credits:read'],
  });
  const stronger = await issue({ scopes: ['readings:read'] });
  const bound = await issue({
    scopes: ['credits:read', 'keys:write'],
    networks: ['127.0.0.0/8'],
    expiresAt: '2099-01-01T00:00:00Z',
  });
  const within = withKey(bound.apiKey);
  const give = (body: object, as = manager) => call('POST', '/keys', as, body);
  for (const [answer, ...expected] of [
    [give({ scopes: ['credits:read', 'keys:write'] }), 403, 'auth_mode_not_allowed'],
    [rotate(keyId, {}, manager), 403, 'auth_mode_not_allowed'],
    [give({ scopes: ['credits:read', 'readings:read'] }), 403, 'scope_missing'],
    [rotate(stronger.keyId, {}, manager), 403, 'scope_missing'],
    [give({ mode: 'test' }, within), 400, 'validation_failed', '/mode'],
    [give({ networks: [] }, within), 400, 'validation_failed', '/networks'],
    [give({ networks: ['0.0.0.0/0'] }, within), 400, 'validation_failed', '/networks'],
    [give({ expiresAt: '2099-01-01T00:00:01Z' }, within), 400, 'validation_failed', '/expiresAt'],
  ] as const)
    expect(await refused(answer)).toEqual(expected);
  const inherited = { networks: ['127.0.0.0/8'], expiresAt: '2099-01-01T00:00:00.000Z' };
  expect(await issue({}, within)).toMatchObject(inherited);

  // One of test mode knows no live key, and makes only test keys.
  const test = withKey((await issue({ mode: 'test', scopes: ['credits:read', 'keys:write'] })).apiKey);
  expect((await issue({}, test)).apiKey).toMatch(/^ek_test_/);
  expect(await listed(test)).toMatchObject([{ mode: 'test' }, { mode: 'test' }]);
  expect(await refused(call('DELETE', `/keys/${keyId}`, test))).toEqual([404, 'not_found']);
  expect(await refused(rotate(keyId, {}, test))).toEqual([404, 'not_found']);
});

it('A key works only from its networks', async () => {
  const from = async (...networks: string[]) =>
    refused(call('GET', '/credits', withKey((await issue({ networks })).apiKey)));
  expect(await from('127.0.0.1', '::1')).toEqual([200, undefined]);
  expect(await from('::ffff:127.0.0.0/104')).toEqual([200, undefined]);
  expect(await from('203.0.113.0/24', '2001:db8::/32')).toEqual([403, 'network_not_allowed']);
});

it('A key that was rotated works until the end of the overlap, and its successor after it', async () => {
  const rotatedWith = async (overlapSeconds: number) => {
    const { keyId, apiKey } = await issue({ label: 'shop', scopes: ['credits:read'] });
    const before = Date.now();
    const { previousExpiresAt, ...successor } = (await rotate(keyId, { overlapSeconds })).body;
    expect(successor).toMatchObject({ label: 'shop', scopes: ['credits:read'], previousKeyId: keyId });
    const end = Date.parse(String(previousExpiresAt));
    expect(end - before).toBeGreaterThanOrEqual(overlapSeconds * 1_000);
    const statuses = [await worksWith(apiKey), await worksWith(successor['apiKey'])];
    return {
      keyId,
      apiKey,
      expiresAt: previousExpiresAt,
      successor,
      end,
      statuses,
      inTime: Date.now() < end,
    };
  };
  let last = await rotatedWith(4);
  // On a slow machine, a short overlap is over before both keys were tried.
  for (const longer of [20, 80]) if (!last.inTime) last = await rotatedWith(longer);
  const { keyId, apiKey, expiresAt, successor, end, statuses } = last;
  expect(statuses).toEqual([200, 200]);
  expect(await listed()).toContainEqual(expect.objectContaining({ keyId, expiresAt }));
  await until(async () => (await worksWith(apiKey)) === 401, 'the previous key ends');
  expect(Date.now()).toBeGreaterThanOrEqual(end);
  expect(await worksWith(successor['apiKey'])).toBe(200);
  expect((await rotate(keyId, {})).status).toBe(404);
});

it('A key is issued, listed and rotated by operators in the same terms', async () => {
  const workspace = ['--workspace', customer.workspaceId];
  const networks = ['203.0.113.0/24', '2001:db8::/32'];
  const terms = { mode: 'test', scopes: ['readings:read', 'erasure'], networks };
  const options = ['--mode', 'test', '--scopes', 'erasure,readings:read'];
  const asked = ['--network', '203.0.113.0/24', '--network', '2001:DB8::/32'];
  const issued = await stack.ops(['key', 'issue', ...workspace, ...options, ...asked]);
  expect(issued).toMatchObject({ ...terms, apiKey: expect.stringMatching(/^ek_test_/) });
  const { keyId } = issued as Issued;
  const rotated = await stack.ops(['key', 'rotate', '--key', keyId, '--overlap', '60']);
  expect(rotated).toMatchObject({ ...terms, previousKeyId: keyId });
  const { keys } = (await stack.ops(['key', 'list', ...workspace])) as { keys: object[] };
  expect(keys).toContainEqual(expect.objectContaining({ keyId, ...terms }));
});

it('An answer with a secret is repeated to its own caller alone, and without the secret', async () => {
  const all = ['--mode', 'test', '--scopes', API_KEY_SCOPES.join()];
  const [maker, other] = [await customer.withKey(...all), await customer.withKey(...all)];
  const readingId = await maker.published();
  const post = async (by: Integrator, path: string, body: object): Promise<Record<string, string>> => {
    const headers = { 'idempotency-key': 'the-same' };
    const answer = await untilServed(() =>
      by.call<Record<string, string>>('POST', `/api/v1${path}`, { headers, body }),
    );
    expect([path, answer.status]).toEqual([path, path.endsWith('rotate-secret') ? 200 : 201]);
    return answer.body;
  };
  const { keyId } = await post(maker, '/keys', { label: 'one' });
  const { endpointId } = await post(maker, '/webhooks', { url: 'https://receiver.example/one' });
  for (const [path, body, secret] of [
    [`/keys/${keyId}/rotate`, {}, 'apiKey'],
    [`/webhooks/${endpointId}/rotate-secret`, {}, 'signingSecret'],
    [`/readings/${readingId}/document/links`, { format: 'pdf' }, 'url'],
    ['/portal/sessions', { scopes: ['credits:read'] }, 'url'],
    ['/keys', { label: 'one' }, 'apiKey'],
    ['/webhooks', { url: 'https://receiver.example/one' }, 'signingSecret'],
  ] as const) {
    const known = path === '/keys' || path === '/webhooks';
    const first = known ? undefined : (await post(maker, path, body))[secret];
    const repeated = (await post(maker, path, body))[secret];
    const others = (await post(other, path, body))[secret];
    expect([path, typeof repeated, typeof others]).toEqual([path, 'undefined', 'string']);
    expect(others).not.toBe(first);
  }
});
