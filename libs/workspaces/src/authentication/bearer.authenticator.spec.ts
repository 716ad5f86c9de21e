import { afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { exportJWK, generateKeyPair, SignJWT, UnsecuredJWT, type JWK, type JWTPayload } from 'jose';
import { projectPath } from '@app/platform/project-path.js';
import { BearerAuthenticator } from './bearer.authenticator.js';

const NOW_S = Date.parse('2026-04-10T12:00:00.000Z') / 1_000;
const ISSUER = 'https://portal.example';
const WORKSPACE = 'ws_0123456789abcdefghijKL';

type KeyPair = Awaited<ReturnType<typeof generateKeyPair>>;
let ed: KeyPair;
let rsa: KeyPair;
let stranger: KeyPair;
let keys: JWK[];
let authenticator: BearerAuthenticator;

beforeAll(async () => {
  [ed, rsa, stranger] = await Promise.all([
    generateKeyPair('EdDSA', { extractable: true }),
    generateKeyPair('RS256', { extractable: true }),
    generateKeyPair('EdDSA', { extractable: true }),
  ]);
  keys = [
    { ...(await exportJWK(ed.publicKey)), kid: 'ed', alg: 'EdDSA' },
    { ...(await exportJWK(rsa.publicKey)), kid: 'rsa', alg: 'RS256' },
  ];
  authenticator = new BearerAuthenticator(
    { now: () => NOW_S * 1_000 },
    {
      TOKEN_ISSUER: ISSUER,
      TOKEN_AUDIENCE: 'reading-service',
      TOKEN_JWKS: { keys },
      TOKEN_JWKS_URL: undefined,
    },
  );
});

const CLAIMS: JWTPayload = {
  iss: ISSUER,
  aud: 'reading-service',
  sub: 'ada',
  wid: WORKSPACE,
  scope: 'webhooks:read credits:read',
  iat: NOW_S - 10,
  nbf: NOW_S - 10,
  exp: NOW_S + 600,
};

const sign = (
  changes: JWTPayload = {},
  header: Record<string, unknown> = { alg: 'EdDSA', kid: 'ed' },
  key: KeyPair['privateKey'] | Uint8Array = ed.privateKey,
): Promise<string> =>
  new SignJWT({ ...CLAIMS, ...changes }).setProtectedHeader(header as { alg: string }).sign(key);

describe('A bearer token', () => {
  it.each([
    ['EdDSA', 'ed', () => ed],
    ['RS256', 'rsa', () => rsa],
  ] as const)('signed with %s by the issuer speaks for its workspace', async (alg, kid, pair) => {
    const token = await sign({}, { alg, kid }, pair().privateKey);
    expect(await authenticator.verify(token)).toEqual({
      mode: 'bearer',
      workspaceId: WORKSPACE,
      actor: 'user:ada',
      scopes: ['webhooks:read', 'credits:read'],
    });
  });

  it.each<[string, JWTPayload]>([
    ['of another issuer', { iss: 'https://elsewhere.example' }],
    ['for another audience', { aud: 'another-service' }],
    ['that has expired', { iat: NOW_S - 700, exp: NOW_S - 6 }],
    ['that is not valid yet', { nbf: NOW_S + 60 }],
    ['that lives longer than 15 minutes', { exp: NOW_S + 60 * 15 }],
    ['that never expires', { exp: undefined }],
    ['that lives longer than 15 minutes from now', { iat: undefined, exp: NOW_S + 60 * 15 + 6 }],
    ['issued in the future, to live long', { iat: NOW_S + 86_400, exp: NOW_S + 86_400 + 600 }],
    ['issued in the future', { iat: NOW_S + 6 }],
    ['whose time of issue is no time', { iat: 'now' as never }],
    ['without a workspace', { wid: undefined }],
    ['of a workspace that is no id', { wid: '../ws_1' }],
    ['without scopes', { scope: undefined }],
    ['of a subject that is no name', { sub: '' }],
  ])('%s is refused', async (_, changes) => {
    expect(await authenticator.verify(await sign(changes))).toBeNull();
  });

  it('need not say whom it was issued for, nor when', async () => {
    const token = await sign({ sub: undefined, iat: undefined, exp: NOW_S + 60 * 15 });
    expect(await authenticator.verify(token)).toMatchObject({ workspaceId: WORKSPACE, actor: 'bearer' });
  });

  it('as docs/operations.md shows it to operators is accepted', async () => {
    const page = readFileSync(projectPath('docs/operations.md'), 'utf8');
    const [, text = 'null'] = /^## Bearer tokens$[\s\S]+?```json\n([\s\S]+?)```/m.exec(page) ?? [];
    const claims = JSON.parse(text) as { iss: string; iat: number; wid: string; sub: string } & JWTPayload;
    const shown = new BearerAuthenticator(
      { now: () => claims.iat * 1_000 },
      {
        TOKEN_ISSUER: claims.iss,
        TOKEN_AUDIENCE: 'reading-service',
        TOKEN_JWKS: { keys },
        TOKEN_JWKS_URL: undefined,
      },
    );
    const token = await new SignJWT(claims)
      .setProtectedHeader({ alg: 'EdDSA', kid: 'ed' })
      .sign(ed.privateKey);
    expect(await shown.verify(token)).toMatchObject({
      workspaceId: claims.wid,
      actor: `user:${claims.sub}`,
    });
  });

  it.each<[string, JWTPayload]>([
    ['issuer', { iat: NOW_S + 5, exp: NOW_S + 5 + 60 * 15 }],
    ['issuer that does not tell when', { iat: undefined, exp: NOW_S + 5 + 60 * 15 }],
  ])('of an %s whose clock is a little ahead is accepted', async (_, changes) => {
    expect(await authenticator.verify(await sign(changes))).not.toBeNull();
  });

  it('that is not signed is refused', async () => {
    expect(await authenticator.verify(new UnsecuredJWT(CLAIMS).encode())).toBeNull();
  });

  it('signed with a public key as if it were a shared secret is refused', async () => {
    const { x = '' } = await exportJWK(ed.publicKey);
    const secret = Buffer.concat([Buffer.from(x, 'base64url'), Buffer.alloc(32)]);
    expect(await authenticator.verify(await sign({}, { alg: 'HS256', kid: 'ed' }, secret))).toBeNull();
  });

  it('signed by a stranger is refused, whatever key it names or brings', async () => {
    const jwk = await exportJWK(stranger.publicKey);
    for (const header of [
      { alg: 'EdDSA', kid: 'ed' },
      { alg: 'EdDSA', kid: '../../etc/passwd' },
      { alg: 'EdDSA', jwk },
      { alg: 'EdDSA', kid: 'ed', jku: 'https://attacker.example/jwks.json' },
      { alg: 'EdDSA', kid: 'ed', x5u: 'https://attacker.example/cert.pem' },
    ]) {
      expect(await authenticator.verify(await sign({}, header, stranger.privateKey))).toBeNull();
    }
  });

  it('that is garbage, or altered, is refused', async () => {
    const token = await sign();
    const [header = '', , signature = ''] = token.split('.');
    const other = Buffer.from(JSON.stringify({ ...CLAIMS, wid: 'ws_0000000000000000000000' })).toString(
      'base64url',
    );
    for (const text of ['', 'a.b.c', 'good', `${header}.${other}.${signature}`]) {
      expect(await authenticator.verify(text)).toBeNull();
    }
  });

  it('is refused where no issuer is configured', async () => {
    const closed = new BearerAuthenticator(
      { now: () => NOW_S * 1_000 },
      {
        TOKEN_ISSUER: undefined,
        TOKEN_AUDIENCE: 'reading-service',
        TOKEN_JWKS: undefined,
        TOKEN_JWKS_URL: undefined,
      },
    );
    expect(await closed.verify(await sign())).toBeNull();
  });
});

describe('Where the issuer’s keys are fetched', () => {
  let portal: Server;
  let answer: (response: ServerResponse) => void;
  let remote: BearerAuthenticator;

  beforeEach(async () => {
    portal = createServer((_, response) => answer(response));
    portal.listen(0, '127.0.0.1');
    await once(portal, 'listening');
    const { port } = portal.address() as AddressInfo;
    remote = new BearerAuthenticator(
      { now: () => NOW_S * 1_000 },
      {
        TOKEN_ISSUER: ISSUER,
        TOKEN_AUDIENCE: 'reading-service',
        TOKEN_JWKS: undefined,
        TOKEN_JWKS_URL: `http://127.0.0.1:${port}/jwks.json`,
      },
    );
  });
  afterEach(() => {
    portal.closeAllConnections();
    portal.close();
  });

  it.each<[string, (response: ServerResponse) => void]>([
    ['answers 503', (response) => response.writeHead(503).end()],
    ['answers rubbish', (response) => response.end('<h1>Maintenance</h1>')],
    ['answers what is no key set', (response) => response.end('{"error":"maintenance"}')],
    ['leads elsewhere', (response) => response.writeHead(302, { location: '/login' }).end()],
    ['does not answer', (response) => response.destroy()],
  ])('a token is answered 503, not called invalid, while the portal %s', async (_, away) => {
    answer = away;
    await expect(remote.verify(await sign())).rejects.toMatchObject({
      code: 'enqueue_unavailable',
      status: 503,
      options: { headers: { 'Retry-After': '5' } },
    });
    answer = (response) => response.end(JSON.stringify({ keys }));
    expect(await remote.verify(await sign())).toMatchObject({ workspaceId: WORKSPACE });
  });

  it('a token that no key could make good is refused whether the portal is there or not', async () => {
    answer = (response) => response.writeHead(503).end();
    expect(await remote.verify('a.b.c')).toBeNull();
    expect(await remote.verify(new UnsecuredJWT(CLAIMS).encode())).toBeNull();
    answer = (response) => response.end(JSON.stringify({ keys }));
    expect(await remote.verify(await sign({}, { alg: 'EdDSA', kid: 'ed' }, stranger.privateKey))).toBeNull();
    expect(
      await remote.verify(await sign({}, { alg: 'EdDSA', kid: 'unknown' }, stranger.privateKey)),
    ).toBeNull();
  });

  it('a token that does not say which of several keys signed it is refused', async () => {
    const twins = [keys[0], { ...keys[0], kid: 'twin' }];
    answer = (response) => response.end(JSON.stringify({ keys: twins }));
    expect(await remote.verify(await sign({}, { alg: 'EdDSA' }))).toBeNull();
  });
});
