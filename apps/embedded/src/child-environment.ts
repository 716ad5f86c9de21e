import { loadConfig, settingNames } from '@app/platform/config/load-config.js';
import type { Secrets } from './secrets.js';
import { settings, type Config } from '../../service/src/settings.js';

/** Open requests get less time than in production, since four processes must stop one after the other within 10 s. */
const DRAIN_MS = '5000';

/** What the stack itself decides; set from outside it would point elsewhere. */
export const OWN_SETTINGS = ['DATABASE_URL', 'DATABASE_OWNER_URL', 'EVENTSTORE_URL'] as const;

export interface Connections {
  readonly DATABASE_URL: string;
  readonly DATABASE_OWNER_URL: string;
  readonly EVENTSTORE_URL: string;
}

/** The issuer of the tokens that `ops token mint` signs. */
const OWN_ISSUER = 'urn:reading-service:embedded';

/** The environment of `ops`: ours, completed by the folder's secrets and the stack's own addresses. */
export const childEnvironment = (
  environment: NodeJS.ProcessEnv,
  { ENCRYPTION_KEYS, DIGEST_KEY, TOKEN_SIGNING_KEY }: Secrets,
  connections: Connections,
): NodeJS.ProcessEnv => ({
  HTTP_DRAIN_MS: DRAIN_MS,
  ENCRYPTION_KEYS,
  DIGEST_KEY,
  TOKEN_ISSUER: OWN_ISSUER,
  // A portal's keys, when it is said where they are, take the place of our own.
  ...(environment['TOKEN_JWKS_URL'] ? {} : { TOKEN_JWKS: publicKeys(TOKEN_SIGNING_KEY) }),
  TOKEN_SIGNING_KEY,
  ...environment,
  ...connections,
});

/** What only `ops` needs: the processes that answer requests and do the work hold neither. */
export const withoutOperatorsSecrets = (environment: NodeJS.ProcessEnv): NodeJS.ProcessEnv => ({
  ...environment,
  TOKEN_SIGNING_KEY: undefined,
  DATABASE_OWNER_URL: undefined,
});

const publicKeys = (signingKey: string): string => {
  const { d: _, ...publicKey } = JSON.parse(signingKey) as Record<string, string>;
  return JSON.stringify({ keys: [publicKey] });
};

/** Validates before anything is started. @throws ConfigError that names each variable at fault */
export const checkSettings = (environment: NodeJS.ProcessEnv, secrets: Secrets): Config =>
  loadConfig(
    settings,
    childEnvironment(environment, secrets, {
      DATABASE_URL: 'postgresql://127.0.0.1:5432/unused',
      DATABASE_OWNER_URL: 'postgresql://127.0.0.1:5432/unused',
      EVENTSTORE_URL: 'esdb://127.0.0.1:2113',
    }),
  );

/** The part of an environment that is the service's configuration. */
export const settingsOf = (environment: NodeJS.ProcessEnv): Record<string, string> =>
  Object.fromEntries(
    settingNames(settings).flatMap((name) => {
      const value = environment[name];
      return value === undefined ? [] : [[name, value] as const];
    }),
  );
