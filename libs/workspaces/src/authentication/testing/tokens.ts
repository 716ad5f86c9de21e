import { KeyObject as KeyObjects, sign as signBytes, type KeyObject } from 'node:crypto';
import { exportJWK, generateKeyPair, SignJWT, type JWK, type JWTPayload } from 'jose';
import { BearerAuthenticator, type TokenSettings } from '../bearer.authenticator.js';

export const NOW_S = Date.parse('2026-04-10T12:00:00.000Z') / 1_000;
export const ISSUER = 'https://portal.example';
export const WORKSPACE = 'ws_0123456789abcdefghijKL';

type KeyPair = Awaited<ReturnType<typeof generateKeyPair>>;

/** Two keys of the issuer, and one of a stranger. */
export const [ed, rsa, stranger] = await Promise.all([
  generateKeyPair('EdDSA', { extractable: true }),
  generateKeyPair('RS256', { extractable: true }),
  generateKeyPair('EdDSA', { extractable: true }),
]);
/** The issuer's key set. */
export const keys: JWK[] = [
  { ...(await exportJWK(ed.publicKey)), kid: 'ed', alg: 'EdDSA' },
  { ...(await exportJWK(rsa.publicKey)), kid: 'rsa', alg: 'RS256' },
];

export const SETTINGS: TokenSettings = {
  TOKEN_ISSUER: ISSUER,
  TOKEN_AUDIENCE: 'reading-service',
  TOKEN_JWKS: undefined,
  TOKEN_JWKS_URL: undefined,
};

export const verifier = (
  jwks: readonly JWK[],
  changes: Partial<TokenSettings> = {},
  now = NOW_S * 1_000,
): BearerAuthenticator =>
  new BearerAuthenticator(
    { now: () => now },
    { ...SETTINGS, TOKEN_JWKS: { keys: [...jwks] }, ...changes },
    { warn: () => undefined },
    { now: () => now },
  );

/** The claims of a good token. */
export const CLAIMS: JWTPayload = {
  iss: ISSUER,
  aud: 'reading-service',
  sub: 'ada',
  wid: WORKSPACE,
  scope: 'webhooks:read credits:read',
  iat: NOW_S - 10,
  nbf: NOW_S - 10,
  exp: NOW_S + 600,
};

/** A token with these changes to the good claims. */
export const sign = (
  changes: JWTPayload = {},
  header: Record<string, unknown> = { alg: 'EdDSA', kid: 'ed' },
  key: KeyPair['privateKey'] | Uint8Array = ed.privateKey,
): Promise<string> =>
  new SignJWT({ ...CLAIMS, ...changes }).setProtectedHeader(header as { alg: string }).sign(key);

/** A token that no library would create: any header and claims, validly signed unless another key is given. */
export const craft = (
  header: Record<string, unknown>,
  claims: unknown = CLAIMS,
  key: KeyObject = signingKey(ed),
  digest: string | null = null,
): string => {
  const encoded = [header, claims].map((part) => Buffer.from(JSON.stringify(part)).toString('base64url'));
  const signed = encoded.join('.');
  return `${signed}.${signBytes(digest, Buffer.from(signed), key).toString('base64url')}`;
};
export const signingKey = ({ privateKey }: KeyPair): KeyObject => KeyObjects.from(privateKey);
export const EDDSA = { alg: 'EdDSA', kid: 'ed' };
