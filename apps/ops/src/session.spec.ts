import { expect, it } from '@jest/globals';
import { readConnection } from './session.js';

const key = Buffer.alloc(32, 1).toString('base64');
const environment = {
  DATABASE_URL: 'postgresql://service@127.0.0.1:5432/service',
  EVENTSTORE_URL: 'esdb://127.0.0.1:2113?tls=false',
  ENCRYPTION_KEYS: `k1:${key}`,
  DIGEST_KEY: key,
};

it('A command knows the settings of the processes, such as their connections, and waits longer than they do', () => {
  expect(readConnection({ ...environment, DATABASE_POOL_SIZE: '30' })).toMatchObject({
    DATABASE_POOL_SIZE: 30,
    DATABASE_QUERY_TIMEOUT_MS: 10_000,
  });
  expect(readConnection(environment).DATABASE_POOL_SIZE).toBe(12);
});
