import { beforeEach, describe, expect, it } from '@jest/globals';
import { randomBytes } from 'node:crypto';
import type { Mode } from '#event-sourcing/core/request-context.js';
import { apiKeyText, makeApiKey, parseApiKey, RANDOM_BYTES, type NewApiKey } from '../domain/api-key.js';
import type { NotificationHandlers, Notifications } from '#platform/postgres/notifications.js';
import { readNetwork } from '../contracts/networks.js';
import type { ApiKeyQuery, ApiKeyRow } from '../read-models/queries.js';
import { ApiKeyAuthenticator, CACHED_MS, type KeyUse, RevokedKeys } from './api-key.authenticator.js';

/** More than the running and waiting look-ups together. */
const FLOOD = 1_000;
const unavailable = { code: 'enqueue_unavailable', status: 503 };

interface TestKey extends NewApiKey {
  readonly apiKey: string;
}

const newKey = (mode: Mode = 'live'): TestKey => {
  const key = makeApiKey({ id: randomBytes(RANDOM_BYTES), secret: randomBytes(RANDOM_BYTES) });
  return { ...key, apiKey: apiKeyText(mode, key) };
};

let now: number;
let stored: Map<string, ApiKeyRow>;
let asked: string[];
/** Keys whose use was recorded. */
let noted: string[];
/** Look-ups that PostgreSQL has not answered. None is answered while it stalls. */
let unanswered: (() => void)[];
let stalls: boolean;
let authenticator: ApiKeyAuthenticator;

beforeEach(() => {
  now = 1_000_000;
  stored = new Map();
  asked = [];
  noted = [];
  unanswered = [];
  stalls = false;
  const query = {
    find: async (keyId: string) => {
      asked.push(keyId);
      const row = stored.get(keyId) ?? null;
      if (stalls) await new Promise<void>((resolve) => unanswered.push(resolve));
      return row;
    },
  } as unknown as ApiKeyQuery;
  authenticator = new ApiKeyAuthenticator(
    query,
    { now: () => now },
    { DATABASE_URL: 'postgresql://x@localhost/x' },
    { note: (keyId: string) => void noted.push(keyId) } as unknown as KeyUse,
    new RevokedKeys(),
    { now: () => now },
  );
});

const store = (key: TestKey, mode: Mode = 'live', networks: readonly string[] = []): TestKey => {
  stored.set(key.keyId, {
    workspaceId: 'ws_1',
    hash: key.hash,
    expiresAt: null,
    revokedAt: null,
    mode,
    scopes: ['readings:read'],
    networks: networks.map((text) => readNetwork(text)!),
  });
  return key;
};
const verify = (apiKey: string, from = '203.0.113.7') => authenticator.verify(apiKey, from);
/** What `pg_notify` sends, which needs no right. */
const notify = (keyId: string) => {
  const { revocations } = authenticator as unknown as { revocations: Notifications };
  (revocations as unknown as { handlers: NotificationHandlers }).handlers.onNotification(keyId);
};
const settle = () => new Promise((resolve) => setImmediate(resolve));
const flood = () => Array.from({ length: FLOOD }, () => verify(newKey().apiKey));

describe('Made-up keys with a right checksum', () => {
  it('are looked up a few at a time; when too many wait, the answer is 503', async () => {
    stalls = true;
    const answers = Promise.allSettled(flood());
    await settle();
    expect(asked.length).toBeLessThanOrEqual(8);
    stalls = false;
    for (const answer of unanswered.splice(0)) answer();
    const refused = (await answers).filter(({ status }) => status === 'rejected');
    expect(refused.length).toBeGreaterThan(FLOOD / 2);
    expect((refused[0] as PromiseRejectedResult).reason).toMatchObject(unavailable);
    expect(await verify(newKey().apiKey)).toBeNull();
  });

  it('do not delay a known key, even when it is looked up again', async () => {
    const { apiKey } = store(newKey());
    expect(await verify(apiKey)).not.toBeNull();
    stalls = true;
    const answers = Promise.allSettled(flood());
    await settle();
    stalls = false;
    now += CACHED_MS;
    expect(await verify(apiKey)).toMatchObject({ workspaceId: 'ws_1' });
    for (const answer of unanswered.splice(0)) answer();
    await answers;
  });

  it('do not wait long: while PostgreSQL stalls, none of them waits for a slot again', async () => {
    stalls = true;
    const answers = Promise.allSettled(flood());
    await settle();
    const atOnce = asked.length;
    now += 60_000;
    for (const answer of unanswered.splice(0)) answer();
    await answers;
    expect(asked).toHaveLength(atOnce);
  });
});

describe('A key', () => {
  it.each(['live', 'test'] as const)('of the mode %s makes and sees nothing of the other', async (mode) => {
    const { apiKey } = store(newKey(mode), mode);
    expect(await verify(apiKey)).toMatchObject({ authMode: 'apiKey', mode, sees: [mode] });
  });

  it('does not work with the prefix of the other mode', async () => {
    const { apiKey, keyId } = store(newKey('test'), 'live');
    expect(await verify(apiKey)).toBeNull();
    stored.set(keyId, { ...stored.get(keyId)!, mode: 'test' });
    now += CACHED_MS;
    expect(await verify(apiKey)).not.toBeNull();
  });

  it('has its scopes', async () => {
    const { apiKey } = store(newKey());
    expect(await verify(apiKey)).toMatchObject({ scopes: ['readings:read'] });
  });

  it('of some networks is refused from elsewhere, without a look-up of its own', async () => {
    const { apiKey } = store(newKey(), 'live', ['203.0.113.0/24', '2001:db8::/32']);
    const answers = await Promise.all(
      ['203.0.113.7', '2001:db8::1', '203.0.114.7', '2001:db9::1', ''].map((from) => verify(apiKey, from)),
    );
    const refused = { workspaceId: 'ws_1', actor: expect.any(String), refusal: 'network' };
    expect(answers.slice(2)).toEqual([refused, refused, refused]);
    expect(answers.slice(0, 2)).toEqual([1, 2].map(() => expect.objectContaining({ authMode: 'apiKey' })));
    expect([asked.length, noted.length]).toEqual([1, 2]);
  });

  it('of some networks is refused when the caller has no address', async () => {
    const { apiKey } = store(newKey(), 'live', ['0.0.0.0/0', '::/0']);
    expect(await authenticator.verify(apiKey, null)).toMatchObject({ refusal: 'network' });
  });

  it('that many concurrent requests carry is looked up once', async () => {
    const { apiKey } = store(newKey());
    const answers = await Promise.all(Array.from({ length: FLOOD }, () => verify(apiKey)));
    expect(answers.every((principal) => principal !== null)).toBe(true);
    expect(asked).toHaveLength(1);
  });

  it('that was issued a moment ago works as soon as it is stored', async () => {
    const key = newKey();
    expect(await verify(key.apiKey)).toBeNull();
    store(key);
    expect(await verify(key.apiKey)).not.toBeNull();
  });

  it('is looked up again when PostgreSQL failed', async () => {
    const key = store(newKey());
    const row = stored.get(parseApiKey(key.apiKey)!.keyId)!;
    stored.get = () => {
      throw new Error('away');
    };
    await expect(verify(key.apiKey)).rejects.toThrow('away');
    stored.get = () => row;
    expect(await verify(key.apiKey)).not.toBeNull();
  });
});

describe('A notification of a revocation', () => {
  it('has the row decide: it takes effect at once, before the cache ends', async () => {
    const key = store(newKey());
    expect(await verify(key.apiKey)).toMatchObject({ authMode: 'apiKey' });
    stored.set(key.keyId, { ...stored.get(key.keyId)!, revokedAt: new Date(now) });
    notify(key.keyId);
    expect(await verify(key.apiKey)).toMatchObject({ refusal: 'ended' });
  });

  it('that somebody made up refuses no valid key, and delays none', async () => {
    const key = store(newKey());
    await verify(key.apiKey);
    stalls = true;
    const answers = Promise.allSettled(flood());
    await settle();
    stalls = false;
    notify(key.keyId);
    notify('nonsense');
    expect(await verify(key.apiKey)).toMatchObject({ authMode: 'apiKey' });
    for (const answer of unanswered.splice(0)) answer();
    await answers;
  });

  it('drops what was read before: rows that arrive later count no more', async () => {
    const key = store(newKey());
    stalls = true;
    const answer = verify(key.apiKey);
    await settle();
    stalls = false;
    stored.set(key.keyId, { ...stored.get(key.keyId)!, revokedAt: new Date(now) });
    notify(key.keyId);
    expect(await verify(key.apiKey)).toMatchObject({ refusal: 'ended' });
    for (const arrive of unanswered.splice(0)) arrive();
    expect(await answer).toMatchObject({ refusal: 'ended' });
    expect(await verify(key.apiKey)).toMatchObject({ refusal: 'ended' });
  });
});
