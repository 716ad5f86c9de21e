import { createHash, timingSafeEqual } from 'node:crypto';
import { crc32 } from 'node:zlib';
import type { Mode } from '#event-sourcing/core/request-context.js';

const ALPHABET = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const ID_LENGTH = 8;
const SECRET_LENGTH = 32;
const CHECKSUM_LENGTH = 6;
const SHAPE = new RegExp(
  `^ek_(live|test)_([0-9A-Za-z]{${ID_LENGTH}})_([0-9A-Za-z]{${SECRET_LENGTH}})([0-9A-Za-z]{${CHECKSUM_LENGTH}})$`,
);

/**
 * Most random bytes that an API key or an id consumes: more than its length, because some are skipped to avoid bias.
 */
export const RANDOM_BYTES = 128;

/**
 * Base62 text of the given length. Bytes of 248 and above are skipped, so that every character is equally likely.
 * @throws RangeError when the bytes run out (less than one in 10^20 with RANDOM_BYTES)
 */
export const base62 = (random: Uint8Array, length: number): string => {
  const text = [...random]
    .filter((byte) => byte < 248)
    .map((byte) => ALPHABET[byte % 62])
    .slice(0, length)
    .join('');
  if (text.length < length) throw new RangeError('Not enough random bytes');
  return text;
};

/** CRC-32 of the key without its checksum, as six base62 digits. Detects typing errors without a database query. */
const checksum = (body: string): string => {
  let rest = crc32(body);
  let text = '';
  for (let digit = 0; digit < CHECKSUM_LENGTH; digit += 1) {
    text = ALPHABET[rest % 62]! + text;
    rest = Math.floor(rest / 62);
  }
  return text;
};

const sha256 = (text: string): string => createHash('sha256').update(text, 'ascii').digest('hex');

/** The secret has 190 bits, so no slow hash is needed. */
const hashOf = ({ keyId, secret }: KeyParts): string => sha256(`${keyId}_${secret}`);

/** Whether the hash is that of this key. */
export const isHashOf = (hash: string, key: KeyParts): boolean =>
  timingSafeEqual(Buffer.from(hash), Buffer.from(hashOf(key)));

interface KeyParts {
  readonly keyId: string;
  /** 32 base62 characters. */
  readonly secret: string;
}

export interface NewApiKey extends KeyParts {
  /** Lowercase hex SHA-256 of id and secret. Only this is stored. */
  readonly hash: string;
}

/** @param random RANDOM_BYTES bytes for the id and as many for the secret */
export const makeApiKey = (random: { id: Uint8Array; secret: Uint8Array }): NewApiKey => {
  const key = { keyId: base62(random.id, ID_LENGTH), secret: base62(random.secret, SECRET_LENGTH) };
  return { ...key, hash: hashOf(key) };
};

/** The key itself, `ek_<mode>_<8 id>_<32 secret><6 checksum>`: shown once, never stored. */
export const apiKeyText = (mode: Mode, { keyId, secret }: KeyParts): string => {
  const body = `ek_${mode}_${keyId}_${secret}`;
  return body + checksum(body);
};

/** The parts of a well-formed key, or `null` for a wrong shape or checksum. */
export const parseApiKey = (text: string): (KeyParts & { readonly mode: Mode }) | null => {
  const match = SHAPE.exec(text);
  if (!match) return null;
  const [, mode, keyId, secret, sum] = match as unknown as [string, Mode, string, string, string];
  return checksum(text.slice(0, -CHECKSUM_LENGTH)) === sum ? { mode, keyId, secret } : null;
};
