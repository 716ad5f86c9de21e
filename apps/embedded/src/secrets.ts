import { createPrivateKey, generateKeyPairSync, randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { type DataFolder, readJson, writePrivateFile, writePrivateJson, StackError } from './data-folder.js';
import { publicKeyOf } from '#billing/offline.js';
import { loadConfig, settingNames } from '#platform/config/load-config.js';
import { type Config, settings } from '../../service/src/settings.js';

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

/** Settings that the stack controls. Values from outside would point to other servers. */
export const OWN_SETTINGS = ['DATABASE_URL', 'DATABASE_OWNER_URL', 'EVENTSTORE_URL'] as const;

export type Connections = Readonly<Record<(typeof OWN_SETTINGS)[number], string>>;

/** Issuer of the tokens that `ops token mint` signs. */
const OWN_ISSUER = 'urn:reading-service:embedded';

/** The environment of `ops`: our own, plus the folder's secrets and the addresses of the stack's servers. */
export const childEnvironment = (
  environment: NodeJS.ProcessEnv,
  { ENCRYPTION_KEYS, DIGEST_KEY, TOKEN_SIGNING_KEY, OPERATOR_KEYS }: Secrets,
  connections: Connections,
): NodeJS.ProcessEnv => ({
  ENCRYPTION_KEYS,
  DIGEST_KEY,
  TOKEN_ISSUER: OWN_ISSUER,
  // If the address of a portal's keys is set, those keys replace our own.
  ...(environment['TOKEN_JWKS_URL'] ? {} : { TOKEN_JWKS: publicKeys(TOKEN_SIGNING_KEY) }),
  TOKEN_SIGNING_KEY,
  OPERATORS: operatorsOf(OPERATOR_KEYS),
  ...environment,
  ...connections,
});

/** Removes the settings that only `ops` needs. The API and the worker must not hold these secrets. */
export const withoutOperatorsSecrets = (environment: NodeJS.ProcessEnv): NodeJS.ProcessEnv => ({
  ...environment,
  TOKEN_SIGNING_KEY: undefined,
  DATABASE_OWNER_URL: undefined,
  OPERATOR_KEY_FILE: undefined,
});

const operatorsOf = (privateKeys: Secrets['OPERATOR_KEYS']): string =>
  Object.entries(privateKeys)
    .map(([name, pem]) => `${name}:${publicKeyOf(createPrivateKey(pem))}`)
    .join();

const publicKeys = (signingKey: string): string => {
  const { d: _, ...publicKey } = JSON.parse(signingKey) as Record<string, string>;
  return JSON.stringify({ keys: [publicKey] });
};

/** Validates the settings before anything starts. @throws ConfigError that names each invalid variable */
export const checkSettings = (environment: NodeJS.ProcessEnv, secrets: Secrets): Config =>
  loadConfig(
    settings,
    childEnvironment(environment, secrets, {
      DATABASE_URL: 'postgresql://127.0.0.1:5432/unused',
      DATABASE_OWNER_URL: 'postgresql://127.0.0.1:5432/unused',
      EVENTSTORE_URL: 'esdb://127.0.0.1:2113',
    }),
  );

/** The part of an environment that configures the service. */
export const settingsOf = (environment: NodeJS.ProcessEnv): Record<string, string> =>
  Object.fromEntries(
    settingNames(settings).flatMap((name) => {
      const value = environment[name];
      return value === undefined ? [] : [[name, value] as const];
    }),
  );
