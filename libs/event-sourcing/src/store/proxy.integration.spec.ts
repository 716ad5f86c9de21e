import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from '@jest/globals';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import { connect, type AddressInfo } from 'node:net';
import { addedToAppend } from '../testing/tally.js';
import { openEventStore } from './eventstoredb.js';
import { storeUnderTest } from './testing/store-under-test.js';

const VARIABLES = ['http_proxy', 'https_proxy', 'grpc_proxy', 'no_grpc_proxy', 'no_proxy'];

const port = storeUnderTest();
let proxy: Server;
const asked: (string | undefined)[] = [];
const environment = { ...process.env };

beforeAll(async () => {
  proxy = createServer();
  proxy.on('connect', ({ url }, near) => {
    asked.push(url);
    const far = connect(Number(new URL(port.connectionString).port), '127.0.0.1', () => {
      near.write('HTTP/1.1 200 Connected\r\n\r\n');
      near.pipe(far).pipe(near);
    });
    for (const socket of [near, far]) socket.on('error', () => undefined);
  });
  proxy.listen(0, '127.0.0.1');
  await once(proxy, 'listening');
});

afterAll(() => void proxy.close());

beforeEach(() => {
  asked.length = 0;
  for (const name of VARIABLES) delete process.env[name];
});

afterEach(() => {
  for (const name of VARIABLES) {
    if (environment[name] === undefined) delete process.env[name];
    else process.env[name] = environment[name];
  }
});

const use = async (scheme: string): Promise<void> => {
  const connectionString = port.connectionString.replace(/^esdb/, scheme);
  const options = { appendTimeoutMs: 20_000, readTimeoutMs: 20_000 };
  const store = await openEventStore({ connectionString, ...options });
  try {
    await store.append(`tally-${randomUUID()}`, 'no_stream', [addedToAppend(randomUUID(), 'r')]);
    await store.head();
  } finally {
    await store.close();
  }
};

const proxyUrl = (): string => `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`;

it.each([
  ['http_proxy', 'esdb'],
  ['https_proxy', 'esdb'],
  ['grpc_proxy', 'esdb'],
  // The client first asks the nodes for the leader.
  ['http_proxy', 'esdb+discover'],
])('%s of the environment does not redirect the connection to %s', async (variable, scheme) => {
  process.env[variable] = proxyUrl();
  process.env['no_proxy'] = 'kept.example';
  await use(scheme);
  expect(asked).toEqual([]);
  expect(process.env['no_grpc_proxy']).toContain('kept.example');
});
