import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer as createHttpServer, type RequestListener, type Server } from 'node:http';
import { createServer as createHttpsServer } from 'node:https';
import { createServer as createTcpServer, type AddressInfo, type Server as TcpServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createServer as createTlsServer, TLSSocket } from 'node:tls';
import { startEmbeddedEventStore, type EmbeddedEventStore } from '#embedded-event-store/index.js';
import type { EventStore } from '#event-sourcing/store/event-store.js';
import { selfSignedCertificate } from '../../../embedded/src/certificate.js';
import type { Config } from '../../../service/src/settings.js';
import { checkCertificates, checkEventStore } from './doctor-stores.js';

describe('their certificates', () => {
  const DAY_MS = 86_400_000;
  const NOW = Date.UTC(2026, 10, 23);
  const NO_TLS = {
    EVENTSTORE_URL: 'esdb://127.0.0.1:1?tls=false',
    DATABASE_URL: 'postgresql://a:b@127.0.0.1:1/c',
  };

  const identityFor = (days: number) =>
    selfSignedCertificate({
      name: 'localhost',
      from: new Date(NOW - 400 * DAY_MS),
      until: new Date(NOW + days * DAY_MS),
    });

  describe('certificates', () => {
    const servers: TcpServer[] = [];
    const folder = mkdtempSync(join(tmpdir(), 'certificates-'));
    afterEach(() => {
      for (const server of servers.splice(0)) server.close();
    });
    afterAll(() => rmSync(folder, { recursive: true, force: true }));

    const portOf = async (server: TcpServer): Promise<number> => {
      servers.push(server.listen(0, '127.0.0.1'));
      await once(server, 'listening');
      return (server.address() as AddressInfo).port;
    };
    /** An event store whose certificate is valid for so many days. */
    const eventStore = async (days: number): Promise<string> => {
      const server = createTlsServer(await identityFor(days));
      return `esdb://a:b@127.0.0.1:${await portOf(server)}?tls=true`;
    };
    /** PostgreSQL as it begins TLS. */
    const postgres = async (days: number): Promise<string> => {
      const identity = await identityFor(days);
      const server = createTcpServer((socket) => {
        socket.on('error', () => undefined);
        socket.once('data', () => {
          socket.write('S');
          const secure = new TLSSocket(socket, { isServer: true, ...identity });
          secure.on('error', () => undefined);
        });
      });
      return `postgresql://a:b@127.0.0.1:${await portOf(server)}/c?sslmode=verify-full`;
    };
    const check = (urls: Partial<typeof NO_TLS>) => checkCertificates({ ...NO_TLS, ...urls }, NOW);

    it('of the stores fail once expired, warn in the last 30 days, and pass before', async () => {
      const urls = { EVENTSTORE_URL: await eventStore(29), DATABASE_URL: await postgres(-1) };
      expect(await check(urls)).toMatchObject([
        {
          level: 'failure',
          message: 'the certificate of PostgreSQL at 127.0.0.1, which expired on 2026-11-22',
        },
        {
          level: 'warning',
          message: 'the certificate of the event store at 127.0.0.1, which expires on 2026-12-22, in 29 days',
        },
      ]);
      expect(
        await check({ EVENTSTORE_URL: await eventStore(31), DATABASE_URL: await postgres(90) }),
      ).toMatchObject([
        {
          level: 'ok',
          message:
            'the first to expire is the event store at 127.0.0.1, which expires on 2026-12-24, in 31 days',
        },
      ]);
    });

    it('in files that an address names count as well', async () => {
      const file = join(folder, 'ca.crt');
      writeFileSync(
        file,
        [await identityFor(300), await identityFor(3)].map(({ cert }) => `${cert}\n`).join(''),
      );
      expect(await check({ EVENTSTORE_URL: `esdb://127.0.0.1:1?tlsCAFile=${file}` })).toMatchObject([
        {
          level: 'warning',
          message: expect.stringContaining(`${file}, which expires on 2026-11-26, in 3 days`),
        },
      ]);
    });

    it('of stores that do not answer are left to their own checks', async () => {
      expect(await check({ EVENTSTORE_URL: 'esdb://127.0.0.1:1?tlsCAFile=/missing' })).toMatchObject([
        { level: 'ok', message: 'no connection uses TLS' },
      ]);
    });
  });
});

describe('the event store', () => {
  let server: Server | undefined;
  afterEach(() => void server?.close());

  type Answers = Readonly<Record<string, unknown>>;

  /** A server that answers these paths. @returns its port */
  const serving = async (answers: Answers, tls?: { readonly key: string; readonly cert: string }) => {
    const answer: RequestListener = ({ url = '' }, response) => {
      const found = answers[url];
      response
        .writeHead(found === undefined ? 401 : 200)
        .end(found === undefined ? '' : JSON.stringify(found));
    };
    server = tls ? createHttpsServer(tls, answer) : createHttpServer(answer);
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    return (server.address() as AddressInfo).port;
  };
  const servingInClear = async (answers: Answers): Promise<string> =>
    `esdb://127.0.0.1:${await serving(answers)}?tls=false`;
  const store = { head: () => Promise.resolve(5n) } as EventStore;
  const check = (EVENTSTORE_URL: string) => checkEventStore(store, { EVENTSTORE_URL } as Config);
  const option = (name: string, value: number) => ({ name, value: String(value) });

  it.each<[string, Answers, object]>([
    [
      'what it takes',
      {
        '/info': { esVersion: '26.1.0' },
        '/info/options': [option('MaxAppendSize', 268_435_456), option('MaxAppendEventSize', 16_777_216)],
      },
      { message: /KurrentDB 26.1.0, takes 268435456 bytes in one append, 16777216 in one event/ },
    ],
    [
      'that it takes less than the service sends',
      { '/info': { esVersion: '23.10.6' }, '/info/options': [option('MaxAppendSize', 500_000)] },
      { level: /^warning$/, advice: /raise MaxAppendSize/ },
    ],
    [
      'that it shows its limits to operators only',
      { '/info': { esVersion: '23.10.6' } },
      { message: /EventStoreDB 23.10.6, limits not shown to this login/ },
    ],
  ])('The doctor says of an event store %s', async (_, answers, wanted) => {
    const found = await check(await servingInClear(answers));
    const matchers = Object.entries(wanted).map(([name, text]) => [name, expect.stringMatching(text)]);
    expect(found).toMatchObject(Object.fromEntries(matchers));
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
});
