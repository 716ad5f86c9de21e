import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer, type RequestListener, type Server } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import { connect, createServer as createTcpServer, type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { startEmbeddedEventStore, type EmbeddedEventStore } from '#embedded-event-store/index.js';
import type { EventStore } from '#event-sourcing/store/event-store.js';
import { selfSignedCertificate } from '../../../../embedded/src/certificate.js';
import { checkEventStore } from './dependencies.js';
import type { Config } from '../../../../service/src/settings.js';

let server: Server | undefined;
afterEach(() => void server?.close());

type Answers = Readonly<Record<string, unknown>>;

/** A server that answers these paths. @returns its port */
const serving = async (answers: Answers, tls?: { readonly key: string; readonly cert: string }) => {
  const answer: RequestListener = ({ url = '' }, response) => {
    const found = answers[url];
    response.writeHead(found === undefined ? 401 : 200).end(found === undefined ? '' : JSON.stringify(found));
  };
  server = tls ? createTlsServer(tls, answer) : createServer(answer);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return (server.address() as AddressInfo).port;
};
const servingInClear = async (answers: Answers): Promise<string> =>
  `esdb://127.0.0.1:${await serving(answers)}?tls=false`;
const store = { head: () => Promise.resolve(5n) } as EventStore;
const check = (EVENTSTORE_URL: string) => checkEventStore(store, { EVENTSTORE_URL } as Config);
const option = (name: string, value: number) => ({ name, value: String(value) });

it('The doctor says what the event store takes in one append and in one event', async () => {
  const url = await servingInClear({
    '/info': { esVersion: '26.1.0' },
    '/info/options': [option('MaxAppendSize', 268_435_456), option('MaxAppendEventSize', 16_777_216)],
  });
  expect((await check(url)).message).toContain(
    'KurrentDB 26.1.0, takes 268435456 bytes in one append, 16777216 in one event',
  );
});

it('The doctor warns of an event store that takes less than the service sends', async () => {
  const url = await servingInClear({
    '/info': { esVersion: '23.10.6' },
    '/info/options': [option('MaxAppendSize', 500_000)],
  });
  expect(await check(url)).toMatchObject({
    level: 'warning',
    advice: expect.stringContaining('raise MaxAppendSize'),
  });
});

it('The doctor says when an event store shows its limits to operators only', async () => {
  const url = await servingInClear({ '/info': { esVersion: '23.10.6' } });
  expect((await check(url)).message).toContain('EventStoreDB 23.10.6, limits not shown to this login');
});

it('The doctor trusts over TLS what the address trusts', async () => {
  const now = Date.now();
  const identity = await selfSignedCertificate({
    name: 'localhost',
    from: new Date(now - 60_000),
    until: new Date(now + 60_000),
  });
  const port = await serving({ '/info': { esVersion: '23.10.6' } }, identity);
  const says = async (options: string) => (await check(`esdb://localhost:${port}?${options}`)).message;
  expect(await says('tlsVerifyCert=false')).toContain('EventStoreDB 23.10.6');
  expect(await says('tls=true')).toContain('version unknown');
});

describe('an address with several nodes', () => {
  let dataDir: string;
  let node: EmbeddedEventStore;
  beforeAll(async () => {
    dataDir = mkdtempSync(join(tmpdir(), 'doctor-cluster-'));
    node = await startEmbeddedEventStore({ dataDir });
  });
  afterAll(async () => {
    await node.stop();
    rmSync(dataDir, { recursive: true, force: true });
  });

  it('is shown with its leader and with the nodes that do not answer', async () => {
    const found = await check(`esdb://127.0.0.1:${node.port},127.0.0.1:1?tls=false`);
    expect(found.level).toBe('warning');
    expect(found.message).toContain(
      `127.0.0.1:${node.port} leads; no followers; no answer from 127.0.0.1:1, head at 5`,
    );
  });

  it('is not said to lack a quorum when its leader is slow', async () => {
    const slow = createTcpServer((inner) => {
      const outer = connect(node.port, '127.0.0.1');
      outer.pipe(inner);
      setTimeout(() => inner.pipe(outer), 1_500);
      for (const socket of [inner, outer]) socket.on('error', () => undefined);
    }).listen(0, '127.0.0.1');
    await once(slow, 'listening');
    const { port } = slow.address() as AddressInfo;
    const found = await check(`esdb://127.0.0.1:${port},127.0.0.1:1?tls=false`);
    slow.close();
    expect(found.message).toContain(`127.0.0.1:${port} leads`);
  });

  it('without a leader is a failure that says there is no quorum', async () => {
    expect(await check('esdb://127.0.0.1:1,127.0.0.1:2?tls=false')).toMatchObject({
      level: 'failure',
      cause: 'absent',
      message: expect.stringContaining('there is no quorum'),
    });
  });
});

it('The doctor says to use names where the address has an IP address under TLS', async () => {
  expect(await check('esdb://user:word@127.0.0.1:1?tls=true')).toMatchObject({
    level: 'warning',
    advice: expect.stringContaining('use a host name'),
  });
});
