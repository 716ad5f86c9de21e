import { createPublicKey, type JsonWebKey, type KeyObject } from 'node:crypto';
import { z } from 'zod';
import type { Algorithm, TokenShape } from '../tokens/token-shape.js';

/** A public key that tokens may be signed with. */
export interface VerificationKey {
  readonly kid: string | null;
  readonly algorithm: Algorithm;
  readonly key: KeyObject;
  /** Length of its signatures, bytes. */
  readonly signatureLength: number;
}

/** Why a key of the set is not used, for the operator. */
export interface UnusedKey {
  /** The first part of its name, as it fits a log line; without a name, its place in the set. */
  readonly name: string;
  readonly reason: string;
}

export interface KeySet {
  readonly keys: readonly VerificationKey[];
  readonly unused: readonly UnusedKey[];
}

/** Bits of an RSA modulus. Below: broken (RFC 7518, 3.3). Above: verifying takes milliseconds. */
const RSA_BITS = [2_048, 8_192] as const;
const LONGEST_NAME = 60;

const jwk = z.object({
  kty: z.string(),
  kid: z.string().optional(),
  alg: z.string().optional(),
  use: z.string().optional(),
  key_ops: z.array(z.string()).optional(),
});

/**
 * The usable keys of a JSON Web Key Set, and the unusable ones: one bad key does not affect the others.
 * Source: RFC 7517, RFC 7518, RFC 8037.
 * @returns `null` when the document is not a key set
 */
export const readKeySet = (value: unknown, maxKeys: number): KeySet | null => {
  const { success, data } = z.object({ keys: z.array(z.unknown()) }).safeParse(value);
  if (!success) return null;
  const read = data.keys.slice(0, maxKeys).map((one, index) => readKey(one, index));
  const keys = distinct(read.flatMap((one) => ('key' in one ? [one] : [])));
  const isTwin = (one: VerificationKey): boolean =>
    one.kid !== null &&
    keys.some((other) => other !== one && other.kid === one.kid && other.algorithm === one.algorithm);
  const unused = [
    ...read.flatMap((one) => ('reason' in one ? [one] : [])),
    ...keys
      .filter(isTwin)
      .map(({ kid }) => ({ name: nameOf(kid ?? ''), reason: 'another key has the same kid' })),
    ...(data.keys.length > maxKeys
      ? [{ name: `${data.keys.length - maxKeys} keys`, reason: `a set has at most ${maxKeys}` }]
      : []),
  ];
  return { keys: keys.filter((one) => !isTwin(one)), unused };
};

/** The key that signed a token: the one it names, or the only one when it names none. */
export const findKey = (
  keys: readonly VerificationKey[],
  { kid, algorithm }: Pick<TokenShape, 'kid' | 'algorithm'>,
): VerificationKey | null => {
  const found = keys.filter((one) => one.algorithm === algorithm && (kid === null || one.kid === kid));
  return found.length === 1 ? found[0]! : null;
};

const readKey = (value: unknown, index: number): VerificationKey | UnusedKey => {
  const parsed = jwk.safeParse(value);
  const unused = (reason: string): UnusedKey => ({
    name: nameOf(parsed.data?.kid ?? `number ${index + 1}`),
    reason,
  });
  if (!parsed.success) return unused('it is not a key');
  const { kid = null, alg, use = 'sig', key_ops: operations = ['verify'] } = parsed.data;
  if (use !== 'sig' || !operations.includes('verify')) return unused('it is not for signatures');
  const algorithm = algorithmOf(value as JsonWebKey);
  if (!algorithm || (alg ?? algorithm) !== algorithm)
    return unused('only EdDSA (Ed25519) and RS256 are used');
  if ('d' in (value as object)) return unused('it is a private key: anyone who fetches the set can sign');
  const key = importKey(value as JsonWebKey);
  if (!key) return unused('it cannot be read');
  if (algorithm === 'EdDSA') return { kid, algorithm, key, signatureLength: 64 };
  const { modulusLength: bits = 0 } = key.asymmetricKeyDetails ?? {};
  const [least, most] = RSA_BITS;
  if (bits < least || bits > most) return unused(`it has ${bits} bits; ${least} to ${most} are used`);
  return { kid, algorithm, key, signatureLength: Math.ceil(bits / 8) };
};

const algorithmOf = ({ kty, crv }: JsonWebKey): Algorithm | null => {
  if (kty === 'RSA') return 'RS256';
  return kty === 'OKP' && crv === 'Ed25519' ? 'EdDSA' : null;
};

const importKey = (key: JsonWebKey): KeyObject | null => {
  try {
    return createPublicKey({ key, format: 'jwk' });
  } catch {
    return null;
  }
};

/** The same key under the same name counts as one. */
const distinct = (keys: readonly VerificationKey[]): readonly VerificationKey[] =>
  keys.filter(
    (one, index) => !keys.slice(0, index).some((other) => other.kid === one.kid && other.key.equals(one.key)),
  );

/** Escapes foreign text before it reaches a log or a terminal. */
const nameOf = (kid: string): string => kid.slice(0, LONGEST_NAME).replaceAll(/[^\x20-\x7e]/g, '?');
