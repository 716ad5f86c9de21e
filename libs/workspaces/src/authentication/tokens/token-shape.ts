/** What a token says of itself, unverified. */
export interface TokenShape {
  readonly algorithm: Algorithm;
  /** The key's name, if the token gives one. */
  readonly kid: string | null;
  /** The parsed payload, an object. */
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
 * Members that change how a token is read (`crit`, `b64`, `zip`, `enc`), carry a key, or reference one. The issuer of
 * these tokens has no use for them.
 */
const REFUSED_MEMBERS = ['crit', 'b64', 'zip', 'enc', 'jwk', 'jku', 'x5c', 'x5u'];
const LONGEST_KID = 200;

/**
 * Reads a compact JWS without verifying it, with the cheap checks first.
 * Source: RFC 7515, RFC 8725.
 * @returns `null` for text that cannot be a valid token, whatever its signature
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
