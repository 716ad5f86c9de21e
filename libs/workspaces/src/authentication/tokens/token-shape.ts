/** What a token says of itself, before anything of it is believed. */
export interface TokenShape {
  readonly algorithm: Algorithm;
  /** The name of the key, where the token gives one. */
  readonly kid: string | null;
  /** Of the payload, an object. */
  readonly claims: Readonly<Record<string, unknown>>;
  /** Bytes. */
  readonly signatureLength: number;
}

export const ALGORITHMS = ['EdDSA', 'RS256'] as const;
export type Algorithm = (typeof ALGORITHMS)[number];

const COMPACT = /^([\w-]+)\.([\w-]+)\.([\w-]+)$/;
/** RFC 7519, RFC 9068; the media type's prefix may be left out (RFC 7515, 4.1.9). */
const TYPES = ['jwt', 'at+jwt'];
/**
 * Members that change how a token is read (`crit`, `b64`, `zip`, `enc`), or bring the key or say where it is: nothing the
 * issuer of these tokens has a use for.
 */
const REFUSED_MEMBERS = ['crit', 'b64', 'zip', 'enc', 'jwk', 'jku', 'x5c', 'x5u'];
const LONGEST_KID = 200;

/**
 * Reads a compact JWS without verifying it: what is cheap comes before what is not.
 * Source: RFC 7515, RFC 8725.
 * @returns `null` for what cannot be a token of ours, however it is signed
 */
export const readToken = (token: string, maxBytes: number): TokenShape | null => {
  if (token.length > maxBytes) return null;
  const [, head = '', payload = '', signature = ''] = COMPACT.exec(token) ?? [];
  const header = readObject(head);
  if (!header || REFUSED_MEMBERS.some((member) => Object.hasOwn(header, member))) return null;
  const { alg, kid, typ } = header;
  const algorithm = ALGORITHMS.find((one) => one === alg);
  if (!algorithm || (typ !== undefined && !isType(typ)) || (kid !== undefined && !isName(kid))) return null;
  const claims = readObject(payload);
  if (!claims) return null;
  return {
    algorithm,
    kid: kid ?? null,
    claims,
    signatureLength: Buffer.byteLength(signature, 'base64url'),
  };
};

const readObject = (part: string): Readonly<Record<string, unknown>> | null => {
  if (part === '') return null;
  try {
    const value = JSON.parse(Buffer.from(part, 'base64url').toString('utf8')) as unknown;
    return typeof value === 'object' && value !== null && !Array.isArray(value)
      ? (value as Record<string, unknown>)
      : null;
  } catch {
    return null;
  }
};

const isType = (typ: unknown): boolean =>
  typeof typ === 'string' && TYPES.includes(typ.toLowerCase().replace(/^application\//, ''));

const isName = (kid: unknown): kid is string =>
  typeof kid === 'string' && kid.length > 0 && kid.length <= LONGEST_KID;
