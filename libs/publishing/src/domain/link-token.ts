import { createHash } from 'node:crypto';
import { crc32 } from 'node:zlib';

/** 208 bits, which nobody guesses. With its checksum, a token has a whole number of characters. */
export const SECRET_BYTES = 26;
const CHECKSUM_BYTES = 4;
const SHAPE = /^[\w-]{40}$/;

/** Lowercase hex SHA-256 of a token's bytes. The token has 208 random bits, so it needs no slow hash. */
export type TokenHash = string;

const checksum = (secret: Uint8Array): Buffer => {
  const sum = Buffer.alloc(CHECKSUM_BYTES);
  sum.writeUInt32BE(crc32(secret));
  return sum;
};

const hashOf = (bytes: Uint8Array): TokenHash => createHash('sha256').update(bytes).digest('hex');

/**
 * Makes the token of a link: base64url of the random bytes and their CRC-32. Only its hash is stored.
 * @param random SECRET_BYTES random bytes
 */
export const makeToken = (random: Uint8Array): { readonly token: string; readonly hash: TokenHash } => {
  const bytes = Buffer.concat([random, checksum(random)]);
  return { token: bytes.toString('base64url'), hash: hashOf(bytes) };
};

/** The hash of a well-formed token; `null` for a wrong shape or checksum, so that it costs no query. */
export const hashOfToken = (token: string): TokenHash | null => {
  if (!SHAPE.test(token)) return null;
  const bytes = Buffer.from(token, 'base64url');
  const secret = bytes.subarray(0, SECRET_BYTES);
  return checksum(secret).equals(bytes.subarray(SECRET_BYTES)) ? hashOf(bytes) : null;
};
