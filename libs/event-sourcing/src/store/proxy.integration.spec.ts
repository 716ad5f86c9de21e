import { afterEach, beforeEach, expect, it } from '@jest/globals';
import { randomUUID } from 'node:crypto';
import { addedToAppend } from '../testing/tally.js';
import { openEventStore } from './eventstoredb.js';
import { storeUnderTest } from './testing/store-under-test.js';

const VARIABLES = ['http_proxy', 'https_proxy', 'grpc_proxy', 'no_grpc_proxy', 'no_proxy'];
/** Nobody listens there. */
const PROXY = 'http://127.0.0.1:1';

const port = storeUnderTest();
const environment = { ...process.env };

beforeEach(() => {
  for (const name of VARIABLES) delete process.env[name];
});

afterEach(() => {
  for (const name of VARIABLES) {
    if (environment[name] === undefined) delete process.env[name];
    else process.env[name] = environment[name];
  }
});

it.each([
  ['http_proxy', 'esdb'],
  ['https_proxy', 'esdb'],
  ['grpc_proxy', 'esdb'],
  // The client first asks the nodes for the leader.
  ['http_proxy', 'esdb+discover'],
])('%s of the environment does not redirect the connection to %s', async (variable, scheme) => {
  process.env[variable] = PROXY;
  process.env['no_proxy'] = 'kept.example';
  const store = await openEventStore({
    connectionString: port.connectionString.replace(/^esdb/, scheme),
    appendTimeoutMs: 20_000,
    readTimeoutMs: 20_000,
  });
  try {
    await store.append(`tally-${randomUUID()}`, 'no_stream', [addedToAppend(randomUUID(), 'r')]);
    await store.head();
  } finally {
    await store.close();
  }
  expect(process.env['no_grpc_proxy']).toContain('kept.example');
});
