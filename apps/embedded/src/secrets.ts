import { generateKeyPairSync, randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import type { DataFolder } from './data-folder.js';
import { readJson, writePrivateFile, writePrivateJson } from './private-file.js';
import { StackError } from './stack-error.js';

const secretsFile = z.object({
  ENCRYPTION_KEYS: z.string(),
  DIGEST_KEY: z.string(),
  POSTGRES_PASSWORD: z.string(),
  /** Private key of the stack's own issuer of bearer tokens: Ed25519, JWK. */
  TOKEN_SIGNING_KEY: z.string(),
  /** Private keys of the two operators of the stack, by name: Ed25519, PEM. */
  OPERATOR_KEYS: z.record(z.string(), z.string()),
});

/** Those who correct the ledger of a stack. Both run on one machine: it shows how, and protects nothing. */
const OPERATORS = ['ada', 'grace'];

/** Secrets without which the folder's data is unreadable. */
export type Secrets = z.infer<typeof secretsFile>;

/** Generates them at the first start. @throws StackError when they are missing or damaged although sealed data exists */
export const loadSecrets = (folder: DataFolder): Secrets => {
  const stored = secretsFile.safeParse(readJson(folder.secrets));
  if (stored.success) return stored.data;
  if (existsSync(folder.secrets) || existsSync(folder.postgres))
    throw new StackError(
      `${folder.secrets} is missing or damaged, and ${folder.path} cannot be read without it: restore the file, or start with an empty DATA_DIR.`,
    );
  const secrets: Secrets = {
    ENCRYPTION_KEYS: `k1:${randomBytes(32).toString('base64')}`,
    DIGEST_KEY: randomBytes(32).toString('base64'),
    POSTGRES_PASSWORD: randomBytes(24).toString('base64url'),
    TOKEN_SIGNING_KEY: newSigningKey(),
    OPERATOR_KEYS: Object.fromEntries(OPERATORS.map((name) => [name, newOperatorKey()])),
  };
  writePrivateJson(folder.secrets, secrets);
  return secrets;
};

const newOperatorKey = (): string =>
  generateKeyPairSync('ed25519').privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();

/** Writes the key file of each operator. @returns that of the one who proposes */
export const writeOperatorKeys = (folder: DataFolder, { OPERATOR_KEYS }: Secrets): string => {
  for (const [name, pem] of Object.entries(OPERATOR_KEYS))
    writePrivateFile(join(folder.operators, `${name}.pem`), pem);
  return join(folder.operators, `${OPERATORS[0]}.pem`);
};

const newSigningKey = (): string => {
  const { privateKey } = generateKeyPairSync('ed25519');
  const kid = randomBytes(8).toString('hex');
  return JSON.stringify({ ...privateKey.export({ format: 'jwk' }), alg: 'EdDSA', use: 'sig', kid });
};
