import { createPrivateKey } from 'node:crypto';
import { publicKeyOf } from '#billing/offline.js';
import { loadConfig, settingNames } from '#platform/config/load-config.js';
import type { Secrets } from './secrets.js';
import { settings, type Config } from '../../service/src/settings.js';

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
