import { generateKeyPairSync, randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { z } from 'zod';
import type { DataFolder } from './data-folder.js';
import { readJson, writePrivateJson } from './private-file.js';
import { StackError } from './stack-error.js';

const secretsFile = z.object({
  ENCRYPTION_KEYS: z.string(),
  DIGEST_KEY: z.string(),
  POSTGRES_PASSWORD: z.string(),
  /** Private key of the stack's own issuer of bearer tokens: Ed25519, JWK. */
  TOKEN_SIGNING_KEY: z.string(),
});

/** Secrets without which the folder's data is unreadable. */
export type Secrets = z.infer<typeof secretsFile>;

/**
 * The folder's secrets, generated on its first start.
 * @throws StackError when they are missing or damaged although sealed data exists
 */
export const loadSecrets = (folder: DataFolder): Secrets => {
  const found = readJson(folder.secrets);
  const stored = secretsFile.safeParse(found);
  if (stored.success) return stored.data;
  const older = secretsFile.omit({ TOKEN_SIGNING_KEY: true }).safeParse(found);
  if (older.success) {
    const completed = { ...older.data, TOKEN_SIGNING_KEY: newSigningKey() };
    writePrivateJson(folder.secrets, completed);
    return completed;
  }
  if (existsSync(folder.secrets) || existsSync(folder.postgres)) {
    throw new StackError(
      `${folder.secrets} is missing or damaged, and ${folder.path} cannot be read without it: restore the file, or start with an empty DATA_DIR.`,
    );
  }
  const secrets: Secrets = {
    ENCRYPTION_KEYS: `k1:${randomBytes(32).toString('base64')}`,
    DIGEST_KEY: randomBytes(32).toString('base64'),
    POSTGRES_PASSWORD: randomBytes(24).toString('base64url'),
    TOKEN_SIGNING_KEY: newSigningKey(),
  };
  writePrivateJson(folder.secrets, secrets);
  return secrets;
};

const newSigningKey = (): string => {
  const { privateKey } = generateKeyPairSync('ed25519');
  const kid = randomBytes(8).toString('hex');
  return JSON.stringify({ ...privateKey.export({ format: 'jwk' }), alg: 'EdDSA', use: 'sig', kid });
};
