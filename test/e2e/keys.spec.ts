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
  [{ label: 'x'.repeat(101) }, '/label'],
  [{ expiresAt: 'tomorrow' }, '/expiresAt'],
  [{ expiresAt: '2020-01-01T00:00:00Z' }, '/expiresAt'],
  [{ workspaceId: 'ws_other' }, '/workspaceId'],
  [{ mode: 'production' }, '/mode'],
  [{ scopes: [] }, '/scopes'],
  [{ scopes: ['readings:read', 'readings:*'] }, '/scopes/1'],
  [{ networks: ['10.0.0.0/8', 'office'] }, '/networks/1'],
  [{ networks: Array.from({ length: 33 }, (_, part) => `10.0.${part}.0/24`) }, '/networks'],
  [{ overlapSeconds: 604_801 }, '/overlapSeconds'],
])('A key is not issued or rotated for %j', async (body, pointer) => {
  const path = 'overlapSeconds' in body ? '/keys/Ab3dE6gH/rotate' : '/keys';
  expect(await refused(call('POST', path, owner(), body))).toEqual([400, 'validation_failed', pointer]);
});

it('A key with keys:write issues, rotates and revokes keys within its own scopes, and gives nothing beyond itself', async () => {
  const { keyId, apiKey } = await issue({ scopes: ['credits:read', 'webhooks:*', 'keys:write'] });
  const manager = withKey(apiKey);
  const issued = await issue({ scopes: ['credits:read'] }, manager);
  const rotated = await rotate(issued.keyId, {}, manager);
  const successor = { scopes: ['credits:read'], previousKeyId: issued.keyId };
  expect([rotated.status, rotated.body]).toEqual([201, expect.objectContaining(successor)]);
  for (const one of [issued.apiKey, rotated.body['apiKey']]) expect(await worksWith(one)).toBe(200);
  expect((await call('DELETE', `/keys/${issued.keyId}`, manager)).status).toBe(204);
  // What it has when it asks for nothing, but never keys:write.
  const scopes = ['webhooks:read', 'webhooks:write', 'credits:read'];
  expect(await issue({}, manager)).toMatchObject({ scopes });
  for (const [answer, code] of [
    [rotate(keyId, {}, manager), 'auth_mode_not_allowed'],
    [call('POST', '/keys', manager, { scopes: ['readings:read'] }), 'scope_missing'],
  ] as const)
    expect(await refused(answer)).toEqual([403, code]);

  // One of test mode knows no live key, and makes only test keys.
  const test = withKey((await issue({ mode: 'test', scopes: ['credits:read', 'keys:write'] })).apiKey);
  expect((await issue({}, test)).apiKey).toMatch(/^ek_test_/);
  expect(await listed(test)).toMatchObject([{ mode: 'test' }, { mode: 'test' }]);
  expect(await refused(call('DELETE', `/keys/${keyId}`, test))).toEqual([404, 'not_found']);
  expect(await refused(rotate(keyId, {}, test))).toEqual([404, 'not_found']);
});

it('A key is issued, listed and rotated by operators in the same terms, and works only from its networks', async () => {
  const workspace = ['--workspace', customer.workspaceId];
  const terms = { mode: 'test', scopes: ['credits:read'], networks: ['203.0.113.0/24', '2001:db8::/32'] };
  const asked = ['--network', '203.0.113.0/24', '--network', '2001:DB8::/32'];
  const issue = ['key', 'issue', ...workspace, '--mode', 'test', '--scopes', 'credits:read', ...asked];
  const issued = (await stack.ops(issue)) as Issued;
  expect(issued).toMatchObject({ ...terms, apiKey: expect.stringMatching(/^ek_test_/) });
  const { keyId, apiKey } = issued;
  expect(await refused(call('GET', '/credits', withKey(apiKey)))).toEqual([403, 'network_not_allowed']);
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
