import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { execFileSync } from 'node:child_process';
import { randomBytes, randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { lstatSync, readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { createServer as createNetServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { Server as TlsServer, connect, createServer as createTlsServer } from 'node:tls';
import pg from 'pg';
import { WrongExpectedRevision } from '#event-sourcing/store/errors.js';
import { openEventStore } from '#event-sourcing/store/eventstoredb.js';
import { selfSignedCertificate } from '../../apps/embedded/src/certificate.js';
import { RANDOM_BYTES, apiKeyText, makeApiKey } from '../../libs/workspaces/src/domain/api-key.js';
import { Integrator } from '../support/integrator.js';
import { removeDataFolder, sharedStack, temporaryDataDir, type Stack } from '../support/index.js';

/** How long the test tries a key whose event was appended. Only the attack with the login gets that far. */
const BELIEVED_WITHIN_MS = 300_000;

let stack: Stack;
let victim: Integrator;
let attackers: string;

beforeAll(async () => {
  attackers = temporaryDataDir();
  stack = await sharedStack();
  victim = await Integrator.open(stack, 0);
});

afterAll(async () => {
  await stack?.stop();
  removeDataFolder(attackers);
});

const storePort = (): number => Number(new URL(stack.eventStoreUrl.replace(/^esdb:/, 'http:')).port);

/** The certificate that the store shows to every client, as a file to trust; none without TLS. */
const shownCertificate = (): Promise<string | undefined> =>
  new Promise((resolve) => {
    const socket = connect({ port: storePort(), host: '127.0.0.1', rejectUnauthorized: false }, () => {
      const { raw } = socket.getPeerCertificate(true);
      socket.destroy();
      const file = join(attackers, 'shown.crt');
      const lines = raw.toString('base64').replace(/.{64}/g, '$&\n');
      writeFileSync(file, `-----BEGIN CERTIFICATE-----\n${lines}\n-----END CERTIFICATE-----\n`);
      resolve(file);
    });
    socket.on('error', () => resolve(undefined));
  });

/** The attack of any user of the machine: append an event that makes the attacker's own key a customer's. */
const forge = async (
  connectionString: string,
  timeoutMs = 2_000,
): Promise<{ appended: boolean; believed: boolean }> => {
  const made = makeApiKey({
    id: randomBytes(RANDOM_BYTES),
    secret: randomBytes(RANDOM_BYTES),
  });
  const { keyId, hash } = made;
  const apiKey = apiKeyText('live', made);
  const store = await openEventStore({
    connectionString,
    appendTimeoutMs: timeoutMs,
    readTimeoutMs: timeoutMs,
  });
  const append = async (revision: bigint): Promise<void> =>
    void (await store.append(`workspace-${victim.workspaceId}`, revision, [
      {
        id: randomUUID(),
        type: 'ApiKeyIssued',
        data: {
          ...{ keyId, hash, label: 'forged', expiresAt: null, replaces: null },
          ...{ mode: 'live', scopes: ['readings:read'], networks: [] },
        },
        metadata: {
          correlationId: 'forged',
          causationId: 'forged',
          workspaceId: victim.workspaceId,
          actor: 'operator:root',
          occurredAt: new Date().toISOString(),
          schemaVersion: 1,
        },
      },
    ]));
  // The revision is not secret either: a conflict reveals it.
  const appended = await append(0n)
    .catch((error: unknown) => {
      if (!(error instanceof WrongExpectedRevision) || typeof error.actual !== 'bigint') throw error;
      return append(error.actual);
    })
    .then(
      () => true,
      () => false,
    );
  await store.close();
  const until = Date.now() + (appended ? BELIEVED_WITHIN_MS : 0);
  do {
    const { status } = await fetch(`${stack.baseUrl}/api/v1/readings`, { headers: { 'x-api-key': apiKey } });
    if (status === 200) return { appended, believed: true };
    await delay(100);
  } while (Date.now() < until);
  return { appended, believed: false };
};

const REFUSED = { appended: false, believed: false };
const LOGIN = /^esdb:\/\/([^@]+)@/;

/** Everything in the data folder that is not inside a folder closed to others. */
const withinReach = (folder: string): string[] =>
  readdirSync(folder).flatMap((name) => {
    const path = join(folder, name);
    const { mode } = lstatSync(path);
    return (mode & 0o170000) === 0o120000 || (mode & 0o077) === 0 ? [] : [path];
  });

/** A server that took the store's port, and everything sent to it. */
const squat = async (
  server: Server,
): Promise<{ port: number; received: () => Buffer; close: () => void }> => {
  const chunks: Buffer[] = [];
  const sockets = new Set<Socket>();
  server.on(server instanceof TlsServer ? 'secureConnection' : 'connection', (socket: Socket) => {
    sockets.add(socket.on('error', () => undefined));
    socket.on('data', (chunk: Buffer) => chunks.push(chunk));
  });
  server.on('tlsClientError', () => undefined);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    port: (server.address() as AddressInfo).port,
    received: () => Buffer.concat(chunks),
    close: () => {
      for (const socket of sockets) socket.destroy();
      server.close();
    },
  };
};

describe('another user of the machine', () => {
  it('cannot append an event to the store by its port alone', async () => {
    expect(await forge(`esdb://127.0.0.1:${storePort()}?tls=false`)).toEqual(REFUSED);
  });

  it('cannot do so by trusting the certificate that the store shows, without its login or with a guess', async () => {
    const certificate = await shownCertificate();
    expect(certificate).toBeDefined();
    const trusting = `localhost:${storePort()}?tls=true&tlsCAFile=${encodeURIComponent(certificate!)}`;
    expect(await forge(`esdb://${trusting}`)).toEqual(REFUSED);
    expect(await forge(`esdb://admin:changeit@${trusting}`)).toEqual(REFUSED);
    // The attack works with the login, so its failures above come from the missing login.
    const [, login] = LOGIN.exec(stack.eventStoreUrl)!;
    expect(await forge(`esdb://${login}@${trusting}`, 30_000)).toEqual({ appended: true, believed: true });
  });

  it('finds the login in no file and no command line that others can read', async () => {
    const [, login] = LOGIN.exec(stack.eventStoreUrl)!;
    const password = login!.split(':')[1]!;
    expect(withinReach(stack.dataDir)).toEqual([]);
    const runtime = readFileSync(join(stack.dataDir, 'runtime.json'), 'utf8');
    expect(runtime).toContain(password);
    const secrets = [
      password,
      ...[...runtime.matchAll(/postgresql:\/\/[^:]+:([^@]+)@/g)].map(([, one]) => one!),
    ];
    expect(secrets).toHaveLength(3);
    for (const pid of Object.values(stack.pids())) {
      const commandLine = execFileSync('ps', ['-ww', '-o', 'command=', '-p', String(pid)], {
        encoding: 'utf8',
      });
      expect(commandLine).not.toBe('');
      for (const secret of secrets) expect(commandLine).not.toContain(secret);
    }
  });

  it('does not receive the login when it takes the port of a stopped store', async () => {
    const identity = await selfSignedCertificate({
      name: 'localhost',
      from: new Date(Date.now() - 60_000),
      until: new Date(Date.now() + 600_000),
    });
    const impostors = [
      createNetServer(),
      createTlsServer({ ...identity, ALPNProtocols: ['h2'] }),
    ] as Server[];
    const [, login] = LOGIN.exec(stack.eventStoreUrl)!;
    for (const server of impostors) {
      const impostor = await squat(server);
      const url = stack.eventStoreUrl.replace(/localhost:\d+/, `localhost:${impostor.port}`);
      expect(await forge(url)).toEqual(REFUSED);
      const received = impostor.received();
      expect(received.includes(login!)).toBe(false);
      expect(received.includes(Buffer.from(login!).toString('base64'))).toBe(false);
      // Without TLS it receives a greeting (22: handshake), with TLS nothing readable.
      expect([undefined, 22]).toContain(received[0]);
      impostor.close();
    }
  });

  it('finds no port of the database, and cannot enter the folder of its socket', async () => {
    const { searchParams } = new URL(stack.applicationDatabaseUrl);
    const folder = searchParams.get('host')!;
    expect(lstatSync(folder).mode & 0o077).toBe(0);
    const client = new pg.Client({ connectionString: stack.databaseUrl });
    await client.connect();
    const { rows } = await client.query<{ listen: string }>(
      `select current_setting('listen_addresses') as listen`,
    );
    await client.end();
    expect(rows[0]?.listen).toBe('');
  });
});
