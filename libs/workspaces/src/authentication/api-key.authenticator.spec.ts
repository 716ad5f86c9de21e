import { beforeEach, describe, expect, it } from '@jest/globals';
import { randomBytes } from 'node:crypto';
import type { Mode } from '#event-sourcing/core/request-context.js';
import { apiKeyText, makeApiKey, RANDOM_BYTES, type NewApiKey } from '../domain/api-key.js';
import { readNetwork } from '../contracts/networks.js';
import type { ApiKeyQuery, ApiKeyRow } from '../read-models/queries.js';
import { ApiKeyAuthenticator } from './api-key.authenticator.js';

/** More than the running and waiting look-ups together. */
const FLOOD = 1_000;
const HOUR_MS = 3_600_000;

let now: number;
let stored: Map<string, ApiKeyRow>;
/** How many look-ups have begun. */
let asked: number;
/** Uses that were noted, by the hour. */
let noted: number[];
/** Look-ups that PostgreSQL has not answered. None is answered while it stalls. */
let unanswered: (() => void)[];
let stalls: boolean;
let authenticator: ApiKeyAuthenticator;

beforeEach(() => {
  [now, asked, stalls] = [100 * HOUR_MS + 1, 0, false];
  [stored, noted, unanswered] = [new Map(), [], []];
  const query = {
    find: async (keyId: string) => {
      asked += 1;
      if (stalls) await new Promise<void>((resolve) => unanswered.push(resolve));
      return stored.get(keyId) ?? null;
    },
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
/** Made-up keys with a right checksum, while PostgreSQL stalls. */
const flood = async () => {
  stalls = true;
  const answers = Promise.allSettled(Array.from({ length: FLOOD }, () => verify(made().apiKey)));
  await new Promise((resolve) => setImmediate(resolve));
  stalls = false;
  const end = async () => {
    for (const answer of unanswered.splice(0)) answer();
    return (await answers).filter(({ status }) => status === 'rejected');
  };
  return { end };
};

describe('Made-up keys with a right checksum', () => {
  it('are looked up a few at a time; when too many wait, the answer is 503', async () => {
    const { end } = await flood();
    expect(asked).toBeLessThanOrEqual(8);
    const refused = await end();
    expect(refused.length).toBeGreaterThan(FLOOD / 2);
    const unavailable = { code: 'enqueue_unavailable', status: 503 };
    expect((refused[0] as PromiseRejectedResult).reason).toMatchObject(unavailable);
    expect(await verify(made().apiKey)).toBeNull();
  });

  it('do not delay a known key', async () => {
    const { apiKey } = store();
    expect(await verify(apiKey)).not.toBeNull();
    const { end } = await flood();
    expect(await verify(apiKey)).toMatchObject({ workspaceId: 'ws_1' });
    await end();
  });
});

describe('A key', () => {
  it('that this process does not know yet is looked up once for all of its first requests', async () => {
    const { apiKey } = store();
    stalls = true;
    const answers = Array.from({ length: FLOOD }, () => verify(apiKey));
    await new Promise((resolve) => setImmediate(resolve));
    expect(asked).toBe(1);
    for (const answer of unanswered.splice(0)) answer();
    expect(new Set((await Promise.all(answers)).map((one) => one?.workspaceId))).toEqual(new Set(['ws_1']));
  });

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
