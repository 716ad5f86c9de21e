// Before @peculiar/x509, which needs it.
import 'reflect-metadata';
import {
  BasicConstraintsExtension,
  ExtendedKeyUsage,
  ExtendedKeyUsageExtension,
  KeyUsageFlags,
  KeyUsagesExtension,
  SubjectAlternativeNameExtension,
  X509CertificateGenerator,
} from '@peculiar/x509';
import { createServer } from 'node:net';
import { KeyObject, randomBytes, webcrypto } from 'node:crypto';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { z } from 'zod';
import { programPath } from '#platform/program-path.js';
import { type DataFolder, writePrivateFile } from './data-folder.js';
import {
  type Announcement,
  EVENT_STORE_FLAGS,
  launch,
  type Launched,
  launchNode,
  LogFile,
  type ProcessRecord,
  Supervisor,
  type SupervisorEvents,
} from './processes.js';

const ALGORITHM = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' };

/** A self-signed server certificate, in PEM, for clients that have this very one. It cannot sign others. */
export const selfSignedCertificate = async (name: string, from: Date, until: Date) => {
  const keys = await webcrypto.subtle.generateKey(ALGORITHM, true, ['sign', 'verify']);
  const certificate = await X509CertificateGenerator.createSelfSigned({
    name: `CN=${name}`,
    notBefore: from,
    notAfter: until,
    keys,
    signingAlgorithm: ALGORITHM,
    extensions: [
      new BasicConstraintsExtension(false, undefined, true),
      new KeyUsagesExtension(KeyUsageFlags.digitalSignature, true),
      new ExtendedKeyUsageExtension([ExtendedKeyUsage.serverAuth]),
      new SubjectAlternativeNameExtension([{ type: 'dns', value: name }]),
    ],
  });
  const key = KeyObject.from(keys.privateKey).export({ type: 'pkcs8', format: 'pem' });
  return { cert: certificate.toString('pem'), key: String(key) };
};

/** Finds a free port (0), or whether this one is. @throws a system error such as EADDRINUSE */
export const listenOnce = (port: number, host: string): Promise<number> =>
  new Promise((resolve, reject) => {
    const server = createServer();
    server.once('error', reject);
    server.listen(port, host, () => {
      const address = server.address();
      server.close(() => resolve(typeof address === 'object' && address ? address.port : 0));
    });
  });

interface EventStoreProcess {
  readonly supervisor: Supervisor<Announcement>;
  readonly url: string;
}

interface Owner {
  readonly folder: DataFolder;
  readonly record: ProcessRecord;
  readonly events: SupervisorEvents;
  readonly adopt: (supervisor: Supervisor<Announcement>) => void;
}

/** @param command command line of another event store than the embedded one (EMBEDDED_EVENT_STORE_COMMAND) */
export const startEventStore = (owner: Owner, command: string | undefined): Promise<EventStoreProcess> =>
  command === undefined ? startEmbeddedEventStore(owner) : startOther(owner, command);

const supervised = ({ events, adopt }: Owner, log: LogFile, start: () => Launched<Announcement>) => {
  const service = { name: 'event-store', log, stopSignal: 'SIGTERM', launch: start } as const;
  const supervisor = new Supervisor(service, events);
  adopt(supervisor);
  return supervisor;
};

/**
 * Starts the embedded event store, with a new login and certificate. A restarted one keeps its port; a program that took
 * it meanwhile gets no login from clients, because it lacks the private key.
 */
export const startEmbeddedEventStore = async (owner: Owner): Promise<EventStoreProcess> => {
  const { folder, record } = owner;
  const log = new LogFile(folder.logs, 'event-store');
  const access = await newAccess(folder.eventStoreAccess);
  let port = 0;
  const supervisor = supervised(owner, log, () => {
    const args = [
      ...['--data', folder.eventStore, '--port', String(port), '--exit-with-parent'],
      ...['--tls-cert', access.certificate, '--tls-key', access.key, '--user-file', access.login],
    ];
    const crashHint = `its data file is probably damaged; embedded-event-store verify --data ${folder.eventStore}`;
    const options = { name: 'event-store', args, environment: process.env, log, record, crashHint };
    return launchNode(programPath('embedded-event-store'), options, EVENT_STORE_FLAGS);
  });
  port = (await supervisor.start()).port ?? 0;
  return { supervisor, url: access.urlAt(port) };
};

/** Host name in the certificate, which clients verify. The store listens on 127.0.0.1 only. */
const HOST = 'localhost';
const LOGIN = 'reading-service';

const DAY_MS = 86_400_000;
/** A certificate is valid for one run of the stack, and a run can take arbitrarily long. */
const VALID_MS = 10 * 365 * DAY_MS;

/** Files that make the event store require a new certificate and login, and the URL with which clients pass both. */
const newAccess = async (folder: string) => {
  const files = {
    certificate: join(folder, 'server.crt'),
    key: join(folder, 'server.key'),
    login: join(folder, 'login'),
  };
  // The clock of a machine that sleeps may be set back.
  const [from, until] = [new Date(Date.now() - DAY_MS), new Date(Date.now() + VALID_MS)];
  const { cert, key } = await selfSignedCertificate(HOST, from, until);
  const password = randomBytes(24).toString('base64url');
  writePrivateFile(files.certificate, cert);
  writePrivateFile(files.key, key);
  writePrivateFile(files.login, `${LOGIN}:${password}\n`);
  const trusted = encodeURIComponent(files.certificate);
  return {
    ...files,
    urlAt: (port: number) => `esdb://${LOGIN}:${password}@${HOST}:${port}?tls=true&tlsCAFile=${trusted}`,
  };
};

/** A restarted store keeps its port. */
const startOther = async (owner: Owner, commandLine: string): Promise<EventStoreProcess> => {
  const { folder, record } = owner;
  const log = new LogFile(folder.logs, 'event-store');
  const port = await listenOnce(0, '127.0.0.1');
  const { url, leads, ...store } = otherEventStore(commandLine, port, folder.eventStore);
  const options = { name: 'event-store', environment: process.env, log, record, ...store };
  const ready = (): Promise<Announcement> => leads().then(() => ({ event: 'listening', port }));
  const supervisor = supervised(owner, log, () => launch(options, ready));
  await supervisor.start();
  return { supervisor, url };
};

const POLL_MS = 50;

const gossip = z.object({ members: z.array(z.object({ state: z.string(), isAlive: z.boolean() })) });

/** A job in the background has no standard input of its own, hence the copy. */
const WATCH_STANDARD_INPUT = 'exec 3<&0 </dev/null\n( cat <&3; kill -TERM $$ ) >/dev/null 2>&1 &\nexec 3<&-';

/**
 * Fills in `{port}` and `{data}`, the absolute path of a folder. The store serves 127.0.0.1 without TLS and login, as KurrentDB
 * does with `--insecure`, and gets SIGTERM when its standard input closes. The shell gives its process to it.
 */
export const otherEventStore = (commandLine: string, port: number, data: string) => {
  const filled = commandLine.replaceAll('{port}', String(port)).replaceAll('{data}', quoted(data));
  return {
    command: 'sh',
    args: ['-c', `${WATCH_STANDARD_INPUT}\nexec ${filled}`],
    port,
    url: `esdb://127.0.0.1:${port}?tls=false`,
    /** Resolves when the store has a leader, or the signal aborts. Never rejects. */
    leads: async (signal?: AbortSignal): Promise<void> => {
      while (!signal?.aborted && !(await hasLeader(port))) await sleep(POLL_MS);
    },
  };
};

const quoted = (text: string): string => `'${text.replaceAll("'", String.raw`'\''`)}'`;

const hasLeader = async (port: number): Promise<boolean> => {
  try {
    const answer = await fetch(`http://127.0.0.1:${port}/gossip`, { signal: AbortSignal.timeout(1_000) });
    const { members } = gossip.parse(await answer.json());
    return members.some(({ state, isAlive }) => isAlive && state === 'Leader');
  } catch {
    return false;
  }
};
