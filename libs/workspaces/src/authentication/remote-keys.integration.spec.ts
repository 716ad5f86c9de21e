import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { once } from 'node:events';
import { createServer, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { gzipSync } from 'node:zlib';
import { exportJWK, type JWTPayload, UnsecuredJWT } from 'jose';
import { BearerAuthenticator, KEY_SET_BOUNDS } from './bearer.authenticator.js';
import { ed, keys as both, SETTINGS, sign as signed, stranger, WORKSPACE } from './testing/tokens.js';

const START = Date.parse('2026-04-10T12:00:00.000Z');
const MINUTE = 60_000;
/** Long enough for an honest answer on a busy machine, and what a test waits for one that never comes. */
const [PATIENT_MS, IMPATIENT_MS] = [60_000, 1_000];

type Answer = (response: ServerResponse) => void;
/** What the portal answers with. */
const keys = [both[0]!];
// Packing holds up this process, and with it the answer that comes next.
const bomb = gzipSync(JSON.stringify({ keys, pad: ' '.repeat(50_000_000) }));
let portal: Server;
let answer: Answer;
let requests: number;
let timeoutMs: number;
let now: number;
let logged: string[];
let remote: BearerAuthenticator;

beforeEach(async () => {
  requests = 0;
  timeoutMs = PATIENT_MS;
  now = START;
  logged = [];
  portal = createServer((_, response) => {
    requests += 1;
    answer(response);
  });
  portal.listen(0, '127.0.0.1');
  await once(portal, 'listening');
  remote = verifier();
});
afterEach(() => {
  portal.closeAllConnections();
  portal.close();
});

const verifier = (): BearerAuthenticator => {
  const { port } = portal.address() as AddressInfo;
  const bounds = {
    ...KEY_SET_BOUNDS,
    get timeoutMs() {
      return timeoutMs;
    },
  };
  return new BearerAuthenticator(
    { now: () => now },
    { ...SETTINGS, TOKEN_JWKS_URL: `http://127.0.0.1:${port}/jwks.json` },
    { warn: (...args: unknown[]) => void logged.push(JSON.stringify(args)) },
    { now: () => now },
    bounds,
  );
};

/** A token of this moment. */
const sign = (changes: JWTPayload = {}, kid = 'ed', key = ed.privateKey) => {
  const nowS = now / 1_000;
  const times = { iat: nowS, nbf: nowS, exp: nowS + 600 };
  return signed({ ...times, ...changes }, { alg: 'EdDSA', kid }, key);
};

const keySet: Answer = (response) => response.end(JSON.stringify({ keys }));
const away: Answer = (response) => response.writeHead(503).end();
const unavailable = {
  code: 'enqueue_unavailable',
  status: 503,
  options: { headers: { 'Retry-After': '5' } },
};

const drip =
  (head: string, more: string, everyMs: number): Answer =>
  (response) => {
    response.write(head);
    const timer = setInterval(() => response.write(more), everyMs);
    response.on('close', () => clearInterval(timer));
  };

describe('While the portal', () => {
  it.each<[string, Answer]>([
    ['answers 503', away],
    ['answers rubbish', (response) => response.end('<h1>Maintenance</h1>')],
    ['leads elsewhere', (response) => response.writeHead(302, { location: '/jwks2.json' }).end()],
    ['answers one byte at a time', drip('{"keys":[', ' ', 20)],
    ['answers without end', drip('{"keys":[', ' '.repeat(60_000), 1)],
    [
      'answers with a compression bomb',
      (response) => response.writeHead(200, { 'content-encoding': 'gzip' }).end(bomb),
    ],
  ])('%s, a token is answered 503, not called invalid, and the portal is left alone', async (_, hostile) => {
    answer = hostile;
    timeoutMs = IMPATIENT_MS;
    await expect(remote.verify(await sign())).rejects.toMatchObject(unavailable);
    for (let n = 0; n < 10; n += 1)
      await expect(remote.verify(await sign())).rejects.toMatchObject(unavailable);
    expect([requests, logged.length]).toEqual([1, 1]);
    expect(logged[0]).not.toContain('Maintenance');
    answer = keySet;
    timeoutMs = PATIENT_MS;
    now += 5_000;
    expect(await remote.verify(await sign())).toMatchObject({ workspaceId: WORKSPACE });
  });

  it('is unavailable, a token that no key could make valid is refused without a request', async () => {
    answer = away;
    expect(await remote.verify('a.b.c')).toBeNull();
    expect(await remote.verify(new UnsecuredJWT({}).encode())).toBeNull();
    for (const wrong of [{ iss: 'https://elsewhere.example' }, { aud: 'x' }, { exp: 1 }, { wid: 'x' }])
      expect(await remote.verify(await sign(wrong))).toBeNull();
    expect(requests).toBe(0);
  });

  it('is unavailable, its keys stay valid for an hour after they were fetched, and no longer', async () => {
    answer = keySet;
    expect(await remote.verify(await sign())).not.toBeNull();
    answer = away;
    for (now = START; now < START + 60 * MINUTE; now += 30_000)
      expect(await remote.verify(await sign())).not.toBeNull();
    expect(requests).toBeGreaterThan(50);
    // One line a minute.
    expect(logged.length).toBeGreaterThan(40);
    expect(logged.length).toBeLessThanOrEqual(51);
    now = START + 60 * MINUTE;
    await expect(remote.verify(await sign())).rejects.toMatchObject(unavailable);
    answer = keySet;
    now += 5_000;
    expect(await remote.verify(await sign())).not.toBeNull();
  });

  it('is slow, a token with a known key does not wait for it again', async () => {
    answer = keySet;
    await remote.verify(await sign());
    answer = () => undefined;
    timeoutMs = IMPATIENT_MS;
    now += 10 * MINUTE;
    expect(await remote.verify(await sign())).not.toBeNull();
    now += 5_000;
    // This request fetches again in the background. No caller waits for the response.
    const pending = portal.listenerCount('request');
    expect([await remote.verify(await sign()), pending]).toMatchObject([{ workspaceId: WORKSPACE }, 1]);
  });
});

describe('The portal receives a request', () => {
  it('once by any number of concurrent requests', async () => {
    answer = (response) => void setTimeout(() => keySet(response), 50);
    const token = await sign();
    const answers = await Promise.all(Array.from({ length: 50 }, () => remote.verify(token)));
    expect(answers.every((principal) => principal !== null)).toBe(true);
    expect(requests).toBe(1);
  });

  it('at most once in thirty seconds for keys that it does not have', async () => {
    answer = keySet;
    await remote.verify(await sign());
    now += 30_000;
    const garbage = await Promise.all(
      Array.from({ length: 60 }, (_, n) => sign({}, `none-${n}`, stranger.privateKey)),
    );
    expect(await Promise.all(garbage.map((token) => remote.verify(token)))).toEqual(Array(60).fill(null));
    for (const token of garbage) expect(await remote.verify(token)).toBeNull();
    expect(requests).toBe(2);
    expect(logged).toEqual([]);
  });

  it('for a new key, after which a withdrawn key is no longer trusted', async () => {
    answer = keySet;
    expect(await remote.verify(await sign())).not.toBeNull();
    const next = [{ ...(await exportJWK(stranger.publicKey)), kid: 'next' }];
    answer = (response) => response.end(JSON.stringify({ keys: next }));
    now += 30_000;
    expect(await remote.verify(await sign())).not.toBeNull();
    expect(await remote.verify(await sign({}, 'next', stranger.privateKey))).not.toBeNull();
    expect(await remote.verify(await sign())).toBeNull();
  });

  it('every ten minutes', async () => {
    answer = keySet;
    await remote.verify(await sign());
    answer = (response) => response.end('{"keys":[]}');
    now += 10 * MINUTE - 1;
    expect(await remote.verify(await sign())).not.toBeNull();
    now += 1;
    expect(await remote.verify(await sign())).toBeNull();
    expect(requests).toBe(2);
  });
});
