import { describe, expect, it } from '@jest/globals';
import { generateKeyPairSync } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { exportJWK, SignJWT, type JWK, type JWTPayload } from 'jose';
import { projectPath } from '#platform/project-path.js';
import {
  NOW_S,
  WORKSPACE,
  keys,
  verifier,
  CLAIMS,
  sign,
  craft,
  EDDSA,
  ed,
  rsa,
  stranger,
} from './testing/tokens.js';

const authenticator = verifier(keys);

describe('A bearer token', () => {
  it.each([
    ['EdDSA', 'ed', () => ed],
    ['RS256', 'rsa', () => rsa],
  ] as const)('signed with %s by the issuer speaks for its workspace', async (alg, kid, pair) => {
    const token = await sign({}, { alg, kid }, pair().privateKey);
    expect(await authenticator.verify(token)).toEqual({
      authMode: 'bearer',
      mode: 'live',
      sees: ['live', 'test'],
      workspaceId: WORKSPACE,
      actor: 'user:ada',
      scopes: ['webhooks:read', 'credits:read'],
    });
  });

  it.each<[string, () => string | Promise<string>]>([
    ['of another issuer', () => sign({ iss: 'https://elsewhere.example' })],
    ['for another audience', () => sign({ aud: 'another-service' })],
    ['that has expired', () => sign({ iat: NOW_S - 700, exp: NOW_S - 6 })],
    ['that is not valid yet', () => sign({ nbf: NOW_S + 60 })],
    ['that lives longer than 15 minutes', () => sign({ exp: NOW_S + 60 * 15 })],
    ['that lives longer than 15 minutes from now', () => sign({ iat: undefined, exp: NOW_S + 60 * 15 + 6 })],
    ['issued in the future', () => sign({ iat: NOW_S + 6 })],
    ['of a malformed workspace id', () => sign({ wid: '../ws_1' })],
    ['without scopes', () => sign({ scope: undefined })],
    ['that is garbage', () => 'a.b.c'],
    ['of four parts', () => 'e30.e30.e30.e30'],
    ['of no type', () => craft({ ...EDDSA, typ: '' })],
    ['of the type of another use', () => craft({ ...EDDSA, typ: 'logout+jwt' })],
    ['without an algorithm', () => craft({ kid: 'ed' })],
    ['of the algorithm none', () => craft({ alg: 'none', kid: 'ed' })],
    ['of the algorithm of the other key', () => craft({ alg: 'RS256', kid: 'ed' })],
    ['whose subject no database could keep', () => craft(EDDSA, { ...CLAIMS, sub: 'a\u0000b' })],
    ['whose subject no log could keep', () => craft(EDDSA, { ...CLAIMS, sub: '\ud800' })],
    ['that is too long', () => craft(EDDSA, { ...CLAIMS, pad: 'x'.repeat(9_000) })],
  ])('%s is refused', async (_, token) => {
    expect(await authenticator.verify(await token())).toBeNull();
  });

  it('that names a mode makes and sees nothing of the other one', async () => {
    const verified = await authenticator.verify(await sign({ livemode: false }));
    expect(verified).toMatchObject({ mode: 'test', sees: ['test'] });
    expect(await authenticator.verify(await sign({ livemode: true }))).toMatchObject({ sees: ['live'] });
    expect(await authenticator.verify(await sign({ livemode: 'false' }))).toBeNull();
  });

  it('may omit its subject and its time of issue', async () => {
    const token = await sign({ sub: undefined, iat: undefined, exp: NOW_S + 60 * 15 });
    expect(await authenticator.verify(token)).toMatchObject({ workspaceId: WORKSPACE, actor: 'bearer' });
  });

  it('built as in docs/operations.md is accepted', async () => {
    const page = readFileSync(projectPath('docs/operations.md'), 'utf8');
    const [, text = 'null'] = /^## Bearer tokens$[\s\S]+?```json\n([\s\S]+?)```/m.exec(page) ?? [];
    const claims = JSON.parse(text) as { iss: string; iat: number; wid: string; sub: string } & JWTPayload;
    const shown = verifier(keys, { TOKEN_ISSUER: claims.iss }, claims.iat * 1_000);
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
    ['issuer that omits the time of issue', { iat: undefined, exp: NOW_S + 5 + 60 * 15 }],
  ])('of an %s whose clock is a little ahead is accepted', async (_, changes) => {
    expect(await authenticator.verify(await sign(changes))).not.toBeNull();
  });

  it('signed with a public key as if it were a shared secret is refused', async () => {
    const { x = '' } = await exportJWK(ed.publicKey);
    const secret = Buffer.concat([Buffer.from(x, 'base64url'), Buffer.alloc(32)]);
    expect(await authenticator.verify(await sign({}, { alg: 'HS256', kid: 'ed' }, secret))).toBeNull();
  });

  it('signed by a stranger is refused, whatever key it names or contains', async () => {
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

  it('that was altered is refused', async () => {
    const [header = '', , signature = ''] = (await sign()).split('.');
    const claims = JSON.stringify({ ...CLAIMS, wid: 'ws_0000000000000000000000' });
    const other = Buffer.from(claims).toString('base64url');
    expect(await authenticator.verify(`${header}.${other}.${signature}`)).toBeNull();
  });

  it('is refused where no issuer is configured', async () => {
    const closed = verifier(keys, { TOKEN_ISSUER: undefined });
    expect(await closed.verify(await sign())).toBeNull();
  });
});

it.each<[string, () => string]>([
  ['of the type JWT', () => craft({ ...EDDSA, typ: 'JWT' })],
  ['of the type of access tokens, as a media type', () => craft({ ...EDDSA, typ: 'Application/at+JWT' })],
  ['that is long', () => craft(EDDSA, { ...CLAIMS, pad: 'x'.repeat(5_000) })],
])('A token %s is accepted', async (_, token) => {
  expect(await authenticator.verify(token())).not.toBeNull();
});

describe('A key of the set', () => {
  it('that is an RSA key of 1,024 bits is not used; the others are', async () => {
    const weak = generateKeyPairSync('rsa', { modulusLength: 1_024 });
    const some = verifier([{ ...(weak.publicKey.export({ format: 'jwk' }) as JWK), kid: 'weak' }, ...keys]);
    const token = craft({ alg: 'RS256', kid: 'weak' }, CLAIMS, weak.privateKey, 'sha256');
    expect(await some.verify(token)).toBeNull();
    expect(await some.verify(await sign())).not.toBeNull();
  });

  it.each<[string, () => JWK]>([
    ['for encryption', () => ({ ...keys[0]!, use: 'enc' })],
    ['that is private', () => ({ ...keys[0]!, d: keys[0]!.x! })],
    ['that is nothing', () => null as unknown as JWK],
  ])('%s is not used', async (_, jwk) => {
    const one = verifier([jwk(), keys[1]!]);
    expect(await one.verify(await sign())).toBeNull();
    expect(await one.verify(await sign({}, { alg: 'RS256', kid: 'rsa' }, rsa.privateKey))).not.toBeNull();
  });

  it('with a duplicate id is not used, since the signing key would be ambiguous', async () => {
    const other = { ...(await exportJWK(stranger.publicKey)), kid: 'ed', alg: 'EdDSA' };
    const both = verifier([...keys, other]);
    expect(await both.verify(await sign())).toBeNull();
    expect(await both.verify(await sign({}, EDDSA, stranger.privateKey))).toBeNull();
  });
});
