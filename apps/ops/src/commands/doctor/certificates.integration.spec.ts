import { afterAll, afterEach, describe, expect, it } from '@jest/globals';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type AddressInfo, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createServer as createTlsServer, TLSSocket } from 'node:tls';
import { selfSignedCertificate } from '../../../../embedded/src/certificate.js';
import { checkCertificates } from './certificates.js';

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
  const servers: Server[] = [];
  const folder = mkdtempSync(join(tmpdir(), 'certificates-'));
  afterEach(() => {
    for (const server of servers.splice(0)) server.close();
  });
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  const portOf = async (server: Server): Promise<number> => {
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
    const server = createServer((socket) => {
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
    ).toMatchObject({
      level: 'ok',
      message: 'the first to expire is the event store at 127.0.0.1, which expires on 2026-12-24, in 31 days',
    });
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
    expect(await check({ EVENTSTORE_URL: 'esdb://127.0.0.1:1?tlsCAFile=/missing' })).toMatchObject({
      level: 'ok',
      message: 'no connection uses TLS',
    });
  });
});
