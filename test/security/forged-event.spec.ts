import { expect, it } from '@jest/globals';
import { execFileSync } from 'node:child_process';
import { lstatSync, readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { connect } from 'node:tls';
import { addedToAppend } from '#event-sourcing/testing/tally.js';
import { openEventStore } from '#event-sourcing/store/eventstoredb.js';
import { randomUUID } from 'node:crypto';
import { fixture, removeDataFolder, sharedStack, temporaryDataDir } from '../support/index.js';

/** What another user of the machine has: a folder of their own, and the ports. */
const attackers = fixture(
  async () => ({ folder: temporaryDataDir() }),
  ({ folder }) => removeDataFolder(folder),
);
const stack = fixture(sharedStack);
const storePort = (): number => Number(new URL(stack.eventStoreUrl.replace(/^esdb:/, 'http:')).port);
const login = (): string => /^esdb:\/\/([^@]+)@/.exec(stack.eventStoreUrl)![1]!;

/** The certificate that the store shows to every client, as a file to trust. */
const shownCertificate = (): Promise<string> =>
  new Promise((resolve, reject) => {
    const socket = connect({ port: storePort(), host: '127.0.0.1', rejectUnauthorized: false }, () => {
      const { raw } = socket.getPeerCertificate(true);
      socket.destroy();
      const file = join(attackers.folder, 'shown.crt');
      const lines = raw.toString('base64').replace(/.{64}/g, '$&\n');
      writeFileSync(file, `-----BEGIN CERTIFICATE-----\n${lines}\n-----END CERTIFICATE-----\n`);
      resolve(file);
    });
    socket.once('error', reject);
  });

const appends = async (connectionString: string, timeoutMs = 2_000): Promise<boolean> => {
  const limits = { appendTimeoutMs: timeoutMs, readTimeoutMs: timeoutMs };
  const store = await openEventStore({ connectionString, ...limits });
  const forged = addedToAppend(randomUUID(), 'forged');
  try {
    await store.append(`tally-${randomUUID()}`, 'no_stream', [forged]);
    return true;
  } catch {
    return false;
  } finally {
    await store.close();
  }
};

it('Another user of the machine cannot append an event, whether they trust the certificate or guess the login', async () => {
  const certificate = encodeURIComponent(await shownCertificate());
  const trusting = `localhost:${storePort()}?tls=true&tlsCAFile=${certificate}`;
  expect(await appends(`esdb://127.0.0.1:${storePort()}?tls=false`)).toBe(false);
  expect(await appends(`esdb://${trusting}`)).toBe(false);
  expect(await appends(`esdb://admin:changeit@${trusting}`)).toBe(false);
  // With the login it works: the failures above come from the missing login.
  expect(await appends(`esdb://${login()}@${trusting}`, 30_000)).toBe(true);
});

/** Everything in the data folder that is not inside a folder closed to others. */
const withinReach = (folder: string): string[] =>
  readdirSync(folder).flatMap((name) => {
    const path = join(folder, name);
    const { mode } = lstatSync(path);
    return (mode & 0o170000) === 0o120000 || (mode & 0o077) === 0 ? [] : [path];
  });

it('Another user of the machine finds the logins in no file and no command line that they can read', () => {
  expect(withinReach(stack.dataDir)).toEqual([]);
  const runtime = readFileSync(join(stack.dataDir, 'runtime.json'), 'utf8');
  const secrets = [
    login().split(':')[1]!,
    ...[...runtime.matchAll(/postgresql:\/\/[^:]+:([^@]+)@/g)].map(([, one]) => one!),
  ];
  expect(secrets).toHaveLength(3);
  for (const pid of Object.values(stack.pids())) {
    const ps = ['-ww', '-o', 'command=', '-p', String(pid)];
    const commandLine = execFileSync('ps', ps, { encoding: 'utf8' });
    expect(commandLine).not.toBe('');
    for (const secret of secrets) expect(commandLine).not.toContain(secret);
  }
});

it('Another user of the machine finds no port of the database, and cannot enter the folder of its socket', async () => {
  const folder = new URL(stack.applicationDatabaseUrl).searchParams.get('host')!;
  expect(lstatSync(folder).mode & 0o077).toBe(0);
  const listen = `select current_setting('listen_addresses') as listen`;
  expect(await stack.query(listen)).toEqual([{ listen: '' }]);
});
