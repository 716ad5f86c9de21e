import { describe, expect, it } from '@jest/globals';
import { ConfigError, loadConfig } from './load-config.js';
import { settings } from './settings.js';

const KEY = Buffer.alloc(32, 7).toString('base64');
const REQUIRED = {
  DATABASE_URL: 'postgresql://app:hunter2@localhost:5432/app',
  EVENTSTORE_URL: 'esdb://localhost:2113?tls=false',
  ENCRYPTION_KEYS: `k2:${KEY},k1:${KEY}`,
  DIGEST_KEY: KEY,
};

const messageOf = (environment: Record<string, string | undefined>): string => {
  try {
    loadConfig(settings, environment);
  } catch (error) {
    expect(error).toBeInstanceOf(ConfigError);
    return (error as Error).message;
  }
  throw new Error('The configuration was accepted');
};

describe('loadConfig', () => {
  it.each<[string, Record<string, string>, object]>([
    ['only what has no sensible default', {}, { PORT: 3000, DATABASE_POOL_SIZE: 12 }],
    [
      'numbers and lists',
      { PORT: '0', WORKER_ROLES: 'jobs, upkeep' },
      { PORT: 0, WORKER_ROLES: ['jobs', 'upkeep'] },
    ],
    [
      'the longest timer, and longer times that no timer waits for',
      { DATABASE_QUERY_TIMEOUT_MS: '2147483647', KEY_RETENTION_MS: '3153600000000' },
      { DATABASE_QUERY_TIMEOUT_MS: 2_147_483_647, KEY_RETENTION_MS: 3_153_600_000_000 },
    ],
    [
      'a comma in a password',
      { DATABASE_URL: 'postgresql://app:one,two@localhost:5432/app' },
      { DATABASE_URL: 'postgresql://app:one,two@localhost:5432/app' },
    ],
    [
      'empty variables as unset',
      { PORT: '', WORKER_ROLES: '', KEY_EPOCH_MS: '\t', DATABASE_POOL_SIZE: ' \n' },
      {
        PORT: 3000,
        WORKER_ROLES: ['follow', 'jobs', 'webhooks', 'upkeep'],
        KEY_EPOCH_MS: 604_800_000,
        DATABASE_POOL_SIZE: 12,
      },
    ],
  ])('takes %s', (_, environment, read) => {
    const config = loadConfig(settings, { ...REQUIRED, ...environment });
    expect(config).toMatchObject(read);
    expect(config.ENCRYPTION_KEYS.map(({ id, key }) => `${id} ${key.length}`)).toEqual(['k2 32', 'k1 32']);
  });

  it.each(Object.keys(REQUIRED))('names %s when it is missing', (name) => {
    const message = messageOf({ ...REQUIRED, [name]: undefined });
    expect(message).toMatch(new RegExp(`^  ${name}: is required — .+$`, 'm'));
    expect(message.split('\n')).toHaveLength(2);
  });

  it.each([
    ['DATABASE_URL', 'postgresql://app:canary@one:5432,two:5432/app'],
    ['ENCRYPTION_KEYS', 'k1:canary'],
    ['ENCRYPTION_KEYS', `k1:${KEY},k1:${KEY}`],
    ['PORT', 'canary'],
    ['WORKER_ROLES', 'jobs,canary'],
  ])('names %s when it is %p, without printing the value', (name, value) => {
    const message = messageOf({ ...REQUIRED, [name]: value });
    expect(message).toMatch(new RegExp(`^  ${name}: `, 'm'));
    expect(message).not.toMatch(/canary/i);
    expect(message).not.toContain(KEY);
  });

  it.each([
    ['DATABASE_QUERY_TIMEOUT_MS', '2147483648', 'from 1 to 2,147,483,647'],
    ['EVENT_STORE_TIMEOUT_MS', '214748365', 'from 1 to 214,748,364'],
    ['KEY_EPOCH_MS', '999', 'from 1,000 to 3,153,600,000,000'],
    ['DATABASE_POOL_SIZE', '0', '1 or more'],
    // Decimal digits alone.
    ...['0x10', '1e3', '+5', '5.0', '5_000', 'Infinity'].map(
      (text) => ['PORT', text, 'from 0 to 65,535'] as const,
    ),
  ] as const)('says what %s allows, which is not %s', (name, value, range) => {
    expect(messageOf({ ...REQUIRED, [name]: value })).toMatch(
      new RegExp(`^ {2}${name}: must be a whole number,? ${range} — `, 'm'),
    );
  });

  it('reports all faults at once', () => {
    const message = messageOf({ PORT: 'x', LOG_LEVEL: 'y' });
    for (const name of [...Object.keys(REQUIRED), 'PORT', 'LOG_LEVEL'])
      expect(message).toContain(`  ${name}: `);
  });
});
