import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { z } from 'zod';
import type { DataFolder } from './data-folder.js';
import { readJson, writePrivateJson } from './private-file.js';
import { StackError } from './stack-error.js';

const secretsFile = z.object({
  ENCRYPTION_KEYS: z.string(),
  DIGEST_KEY: z.string(),
  POSTGRES_PASSWORD: z.string(),
});

/** Without these the data of the folder cannot be read. */
export type Secrets = z.infer<typeof secretsFile>;

/**
 * The folder's secrets, generated at its first start.
 * @throws StackError when they are gone or damaged but data sealed with them is there.
 */
export const loadSecrets = (folder: DataFolder): Secrets => {
  const stored = secretsFile.safeParse(readJson(folder.secrets));
  if (stored.success) return stored.data;
  if (existsSync(folder.secrets) || existsSync(folder.postgres)) {
    throw new StackError(
      `${folder.secrets} is missing or damaged, and ${folder.path} cannot be read without it: restore it, or start over in an empty DATA_DIR.`,
    );
  }
  const secrets: Secrets = {
    ENCRYPTION_KEYS: `k1:${randomBytes(32).toString('base64')}`,
    DIGEST_KEY: randomBytes(32).toString('base64'),
    POSTGRES_PASSWORD: randomBytes(24).toString('base64url'),
  };
  writePrivateJson(folder.secrets, secrets);
  return secrets;
};
