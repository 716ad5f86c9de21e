import { createHash, createHmac, pbkdf2Sync } from 'node:crypto';

/** PostgreSQL's default (`scram_iterations`). */
const ITERATIONS = 4_096;
const HASH_BYTES = 32;

/**
 * What PostgreSQL stores instead of a password (RFC 5802, RFC 7677), in its own notation. A statement with it puts no
 * password into the server's log and can be shown.
 * @param password printable ASCII: other characters would need normalisation first (SASLprep)
 * @param salt 16 random bytes
 */
export const scramVerifier = (password: string, salt: Uint8Array): string => {
  const salted = pbkdf2Sync(password, salt, ITERATIONS, HASH_BYTES, 'sha256');
  const keyed = (label: string): Buffer => createHmac('sha256', salted).update(label).digest();
  const storedKey = createHash('sha256').update(keyed('Client Key')).digest('base64');
  const serverKey = keyed('Server Key').toString('base64');
  return `SCRAM-SHA-256$${ITERATIONS}:${Buffer.from(salt).toString('base64')}$${storedKey}:${serverKey}`;
};
