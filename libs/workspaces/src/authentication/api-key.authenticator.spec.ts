import { beforeEach, describe, expect, it } from '@jest/globals';
import { randomBytes } from 'node:crypto';
import type { Mode } from '#event-sourcing/core/request-context.js';
import { apiKeyText, makeApiKey, RANDOM_BYTES, type NewApiKey } from '../domain/api-key.js';
import { readNetwork } from '../contracts/networks.js';
import type { ApiKeyQuery, ApiKeyRow } from '../read-models/queries.js';
import { ApiKeyAuthenticator } from './api-key.authenticator.js';

const HOUR_MS = 3_600_000;

let now: number;
let stored: Map<string, ApiKeyRow>;
/** Uses that were noted, by the hour. */
let noted: number[];
let authenticator: ApiKeyAuthenticator;

beforeEach(() => {
  [now, stored, noted] = [100 * HOUR_MS + 1, new Map(), []];
  const query = {
    find: async (keyId: string) => stored.get(keyId) ?? null,
    noteUse: async (keyId: string, hour: number) => {
      noted.push(hour / HOUR_MS);
      change(keyId, { usedAt: new Date(hour) });
    },
  } as unknown as ApiKeyQuery;
  authenticator = new ApiKeyAuthenticator(query, { now: () => now });
});

const made = (mode: Mode = 'live'): NewApiKey & { apiKey: string } => {
  const key = makeApiKey({ id: randomBytes(RANDOM_BYTES), secret: randomBytes(RANDOM_BYTES) });
  return { ...key, apiKey: apiKeyText(mode, key) };
};
const store = (mode: Mode = 'live', changes: Partial<ApiKeyRow> = {}) => {
  const key = made(mode);
  stored.set(key.keyId, {
    ...{ workspaceId: 'ws_1', hash: key.hash, mode, scopes: ['readings:read'], networks: [] },
    ...{ expiresAt: null, revokedAt: null, usedAt: null, ...changes },
  });
  return key;
};
const change = (keyId: string, changes: Partial<ApiKeyRow>) =>
  stored.set(keyId, { ...stored.get(keyId)!, ...changes });
const verify = (apiKey: string, from: string | null = '203.0.113.7') => authenticator.verify(apiKey, from);

describe('A key', () => {
  it.each(['live', 'test'] as const)(
    'of the mode %s has its scopes and sees that mode alone',
    async (mode) => {
      const principal = { authMode: 'apiKey', mode, sees: [mode], scopes: ['readings:read'] };
      expect(await verify(store(mode).apiKey)).toMatchObject(principal);
    },
  );

  it('does not work with the prefix of the other mode, or with another secret', async () => {
    const { apiKey, keyId } = store('test', { mode: 'live' });
    expect(await verify(apiKey)).toBeNull();
    change(keyId, { mode: 'test', hash: made().hash });
    expect(await verify(apiKey)).toBeNull();
  });

  it('of some networks is refused from elsewhere, and from an unknown address', async () => {
    const networks = ['203.0.113.0/24', '2001:db8::/32'].map((text) => readNetwork(text)!);
    const { apiKey } = store('live', { networks });
    for (const from of ['203.0.113.7', '2001:db8::1'])
      expect(await verify(apiKey, from)).toMatchObject({ authMode: 'apiKey' });
    for (const from of ['203.0.114.7', '2001:db9::1', '', null])
      expect(await verify(apiKey, from)).toEqual({
        ...{ workspaceId: 'ws_1', actor: expect.any(String), refusal: 'network' },
      });
  });

  it('is refused from the moment in which it is revoked or expires', async () => {
    const [revoked, expired] = [store(), store('live', { expiresAt: new Date(now + 1) })];
    for (const { apiKey } of [revoked, expired])
      expect(await verify(apiKey)).toMatchObject({ authMode: 'apiKey' });
    change(revoked.keyId, { revokedAt: new Date(now) });
    now += 1;
    for (const { apiKey } of [revoked, expired])
      expect(await verify(apiKey)).toMatchObject({ refusal: 'ended' });
  });

  it('is noted as used once an hour, unless it is refused', async () => {
    const { apiKey } = store();
    await verify(apiKey);
    await verify(apiKey);
    now += HOUR_MS;
    await verify(apiKey);
    await verify(store('live', { revokedAt: new Date() }).apiKey);
    expect(noted).toEqual([100, 101]);
  });
});
