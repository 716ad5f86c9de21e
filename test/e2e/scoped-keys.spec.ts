import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { API_KEY_SCOPES } from '#platform/auth/scopes.js';
import { Integrator, person, until, untilServed } from '../support/integrator.js';
import { sharedStack, type Stack } from '../support/index.js';
import { keyCalls } from './support/key-calls.js';

let stack: Stack;
let customer: Integrator;
let call: ReturnType<typeof keyCalls>['call'];
/** A person who manages the keys of the workspace in the portal. */
let owner: Record<string, string>;

beforeAll(async () => {
  stack = await sharedStack();
  customer = await Integrator.open(stack, 0);
  const calls = keyCalls(stack);
  ({ call } = calls);
  owner = await calls.mint(customer.workspaceId, 'keys:read keys:write');
});

afterAll(async () => {
  await stack?.stop();
});

describe('a key with keys:write', () => {
  let manager: Record<string, string>;
  let managerId: string;

  const issue = async (body: object, as = owner) => {
    const { status, body: issued } = await call('POST', '/keys', as, body);
    expect([status, issued['errors'] ?? null]).toEqual([201, null]);
    return issued as { keyId: string; apiKey: string; mode: string; scopes: string[]; networks: string[] };
  };
  const rotate = (keyId: string, body: object, as = owner) => call('POST', `/keys/${keyId}/rotate`, as, body);

  beforeAll(async () => {
    const { keyId, apiKey } = await issue({ scopes: ['credits:read', 'webhooks:*', 'keys:write'] });
    [managerId, manager] = [keyId, { 'x-api-key': apiKey }];
  });

  it('issues, rotates and revokes keys within its own scopes', async () => {
    const issued = await issue({ scopes: ['credits:read'] }, manager);
    expect(issued).toMatchObject({ mode: 'live', scopes: ['credits:read'], networks: [] });
    const rotated = await rotate(issued.keyId, {}, manager);
    expect([rotated.status, rotated.body]).toEqual([
      201,
      expect.objectContaining({ scopes: ['credits:read'], previousKeyId: issued.keyId }),
    ]);
    for (const apiKey of [issued.apiKey, String(rotated.body['apiKey'])])
      expect((await call('GET', '/credits', { 'x-api-key': apiKey })).status).toBe(200);
    expect((await call('DELETE', `/keys/${issued.keyId}`, manager)).status).toBe(204);
  });

  it('gives what it has when it asks for nothing, but never keys:write', async () => {
    const { scopes } = await issue({}, manager);
    expect(scopes).toEqual(['webhooks:read', 'webhooks:write', 'credits:read']);
    const refused = await call('POST', '/keys', manager, { scopes: ['credits:read', 'keys:write'] });
    expect([refused.status, refused.body['code']]).toEqual([403, 'auth_mode_not_allowed']);
    const itself = await rotate(managerId, {}, manager);
    expect([itself.status, itself.body['code']]).toEqual([403, 'auth_mode_not_allowed']);
  });

  it('gives nothing beyond itself, not even by rotating another key', async () => {
    const missing = { code: 'scope_missing', scope: 'readings:read' };
    const issued = await call('POST', '/keys', manager, { scopes: ['credits:read', 'readings:read'] });
    expect([issued.status, issued.body]).toEqual([403, expect.objectContaining(missing)]);
    const stronger = await issue({ scopes: ['readings:read'] });
    const rotated = await rotate(stronger.keyId, {}, manager);
    expect([rotated.status, rotated.body]).toEqual([403, expect.objectContaining(missing)]);
    const bound = await issue({
      scopes: ['credits:read', 'keys:write'],
      networks: ['127.0.0.0/8'],
      expiresAt: '2099-01-01T00:00:00Z',
    });
    const within = { 'x-api-key': bound.apiKey };
    for (const [body, pointer] of [
      [{ mode: 'test' }, '/mode'],
      [{ networks: [] }, '/networks'],
      [{ networks: ['0.0.0.0/0'] }, '/networks'],
      [{ expiresAt: '2099-01-01T00:00:01Z' }, '/expiresAt'],
    ] as const) {
      const answer = await call('POST', '/keys', within, body);
      expect([answer.status, answer.body['errors']]).toEqual([400, [expect.objectContaining({ pointer })]]);
    }
    expect(await issue({}, within)).toMatchObject({
      networks: ['127.0.0.0/8'],
      expiresAt: '2099-01-01T00:00:00.000Z',
    });
  });

  it('of test mode knows no live key, and makes only test keys', async () => {
    const { apiKey } = await issue({ mode: 'test', scopes: ['credits:read', 'keys:write'] });
    expect(apiKey).toMatch(/^ek_test_/);
    const test = { 'x-api-key': apiKey };
    const made = await issue({}, test);
    expect(made.apiKey).toMatch(/^ek_test_/);
    const listed = (await call('GET', '/keys', test)).body['data'] as { keyId: string; mode: string }[];
    expect(listed.map(({ mode }) => mode)).toEqual(['test', 'test']);
    for (const refused of [
      await call('DELETE', `/keys/${managerId}`, test),
      await rotate(managerId, {}, test),
    ])
      expect([refused.status, refused.body['code']]).toEqual([404, 'not_found']);
    expect((await call('GET', '/credits', manager)).status).toBe(200);
  });
});

describe('a key', () => {
  it('works only from its networks', async () => {
    const from = async (...networks: string[]) => {
      const { body } = await call('POST', '/keys', owner, { networks });
      return call('GET', '/credits', { 'x-api-key': String(body['apiKey']) });
    };
    expect((await from('127.0.0.1', '::1')).status).toBe(200);
    expect((await from('::ffff:127.0.0.0/104')).status).toBe(200);
    const refused = await from('203.0.113.0/24', '2001:db8::/32');
    expect([refused.status, refused.body['code']]).toEqual([403, 'network_not_allowed']);
  });

  it('that was rotated works until the end of the overlap, and its successor after it', async () => {
    const statusOf = async (key: string) => (await call('GET', '/credits', { 'x-api-key': key })).status;
    const rotatedWith = async (overlapSeconds: number) => {
      const issued = await call('POST', '/keys', owner, { label: 'shop', scopes: ['credits:read'] });
      const { keyId, apiKey } = issued.body as { keyId: string; apiKey: string };
      const before = Date.now();
      const rotated = await call('POST', `/keys/${keyId}/rotate`, owner, { overlapSeconds });
      const { previousExpiresAt, ...successor } = rotated.body as Record<string, string>;
      expect(successor).toMatchObject({ label: 'shop', scopes: ['credits:read'], previousKeyId: keyId });
      const end = Date.parse(previousExpiresAt!);
      expect(end - before).toBeGreaterThanOrEqual(overlapSeconds * 1_000);
      const statuses = [await statusOf(apiKey), await statusOf(successor['apiKey']!)];
      return { keyId, apiKey, previousExpiresAt, successor, end, statuses, inTime: Date.now() < end };
    };
    let last = await rotatedWith(4);
    // On a slow machine, a short overlap is over before both keys were tried.
    for (const longer of [20, 80]) if (!last.inTime) last = await rotatedWith(longer);
    const { keyId, apiKey, previousExpiresAt, successor, end, statuses } = last;
    expect(statuses).toEqual([200, 200]);
    const listed = (await call('GET', '/keys', owner)).body['data'] as Record<string, unknown>[];
    expect(listed.find((one) => one['keyId'] === keyId)).toMatchObject({ expiresAt: previousExpiresAt });
    await until(
      async () => (await statusOf(apiKey)) === 401,
      () => 'the previous key ends',
    );
    expect(Date.now()).toBeGreaterThanOrEqual(end);
    expect(await statusOf(successor['apiKey']!)).toBe(200);
    expect((await call('POST', `/keys/${keyId}/rotate`, owner)).status).toBe(404);
  });

  it.each([-1, 604_801, 1.5, '5', null])('is not rotated with the overlap %j', async (overlapSeconds) => {
    const answer = await call('POST', '/keys/Ab3dE6gH/rotate', owner, { overlapSeconds });
    expect([answer.status, answer.body['errors']]).toEqual([
      400,
      [expect.objectContaining({ pointer: '/overlapSeconds' })],
    ]);
  });

  it('is shown once, also when a rotation is repeated with its Idempotency-Key', async () => {
    const { keyId } = (await call('POST', '/keys', owner, {})).body as { keyId: string };
    const repeated = { ...owner, 'idempotency-key': 'rotation-1' };
    const first = await call('POST', `/keys/${keyId}/rotate`, repeated, {});
    const second = await call('POST', `/keys/${keyId}/rotate`, repeated, {});
    const { apiKey, ...rest } = first.body;
    expect([typeof apiKey, second.status, second.body]).toEqual(['string', 201, rest]);
  });

  it('is issued, listed and rotated by operators in the same terms', async () => {
    const workspace = ['--workspace', customer.workspaceId];
    const terms = {
      mode: 'test',
      scopes: ['readings:read', 'erasure'],
      networks: ['203.0.113.0/24', '2001:db8::/32'],
    };
    const options = ['--mode', 'test', '--scopes', 'erasure,readings:read'];
    const networks = ['--network', '203.0.113.0/24', '--network', '2001:DB8::/32'];
    const issued = await stack.ops(['key', 'issue', ...workspace, ...options, ...networks]);
    expect(issued).toMatchObject({ ...terms, apiKey: expect.stringMatching(/^ek_test_/) });
    const { keyId } = issued as { keyId: string };
    const rotated = await stack.ops(['key', 'rotate', '--key', keyId, '--overlap', '60']);
    expect(rotated).toMatchObject({ ...terms, previousKeyId: keyId });
    const { keys } = (await stack.ops(['key', 'list', ...workspace])) as { keys: object[] };
    expect(keys).toContainEqual(expect.objectContaining({ keyId, ...terms }));
    for (const wrong of [
      ['issue', ...workspace, '--scopes', 'everything'],
      ['issue', ...workspace, '--network', '203.0.113.7/24'],
      ['issue', ...workspace, '--mode', 'demo'],
      ['rotate', '--key', keyId, '--overlap', '604801'],
      ['rotate', '--key', '00000000'],
    ])
      await expect(stack.ops(['key', ...wrong])).rejects.toThrow(/not a scope|network|demo|604800|no active/);
  });
});

it('An answer with a secret is repeated to its own caller alone, and without the secret', async () => {
  const all = ['--mode', 'test', '--scopes', API_KEY_SCOPES.join()];
  const [maker, other] = [await customer.withKey(...all), await customer.withKey(...all)];
  const { readingId } = (await maker.create(person())).body;
  await maker.untilEnded(readingId);
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
