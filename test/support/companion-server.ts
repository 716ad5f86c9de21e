import 'reflect-metadata';
import { rmSync } from 'node:fs';
import { createServer, type IncomingMessage } from 'node:http';
import { json } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { prepareDatabase } from '#platform/postgres/prepare-database.js';
import { run } from '../../apps/ops/src/run.js';
import { giveCredits, type Gift } from './give-credits.js';
import { removeDataFolder } from './data-dir.js';
import { preparedDataDir } from './prepared-data-dir.js';
import { startStackProcess, type StackProcess } from './stack-process.js';
import { RECEIVER_SETTINGS } from './start-receiver.js';
import { MODULES } from '../../apps/service/src/modules.js';
import { startPostgres, type PostgresUrls, type StartedPostgres } from './start-postgres.js';

/** What it started ends with it in any case. */
const ENDS_WITHIN_MS = 20_000;

/** A command line, and its environment. */
export interface OpsRequest {
  readonly args: readonly string[];
  readonly environment: NodeJS.ProcessEnv;
}

export interface OpsAnswer {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** What the companion does, by path: the body of the request, and of the answer. */
export interface Services {
  readonly '/ops': { readonly asks: OpsRequest; readonly answers: OpsAnswer };
  readonly '/credits': { readonly asks: Gift; readonly answers: null };
  readonly '/database': { readonly asks: null; readonly answers: PostgresUrls };
  readonly '/drop': { readonly asks: { readonly url: string }; readonly answers: null };
  /** Answers with the data folder of the shared stack. */
  readonly '/stack': { readonly asks: null; readonly answers: string };
  readonly '/stack/release': { readonly asks: null; readonly answers: null };
}

/** Captures a command's output instead of a terminal. */
const captured = { stdout: '', stderr: '' };
for (const name of ['stdout', 'stderr'] as const) {
  process[name].write = (chunk: string | Uint8Array, ...rest: unknown[]): boolean => {
    captured[name] += typeof chunk === 'string' ? chunk : Buffer.from(chunk).toString();
    const written = rest.find((one): one is () => void => typeof one === 'function');
    written?.();
    return true;
  };
}

/** One database server, which makes databases out of its first one: much faster than a server for each spec file. */
let databases: Promise<StartedPostgres> | undefined;
let made = 0;

const inDatabase = (url: string, name: string): string =>
  Object.assign(new URL(url), { pathname: `/${name}` }).href;

const asAdministrator = async (
  work: (client: pg.Client, urls: PostgresUrls) => Promise<void>,
): Promise<void> => {
  databases ??= startPostgres();
  const urls = await databases.catch((error: unknown) => {
    // The next spec file tries again.
    databases = undefined;
    throw error;
  });
  const client = new pg.Client({ connectionString: inDatabase(urls.databaseUrl, 'postgres') });
  await client.connect();
  try {
    await work(client, urls);
  } finally {
    await client.end();
  }
};

/** Makes a database with every module's schema. */
const makeDatabase = async (): Promise<PostgresUrls> => {
  const name = `spec_${++made}`;
  let database: PostgresUrls | undefined;
  await asAdministrator(async (client, urls) => {
    const template = new URL(urls.databaseUrl).pathname.slice(1);
    await client.query(`create database ${name} template ${template}`);
    database = {
      databaseUrl: inDatabase(urls.databaseUrl, name),
      applicationUrl: inDatabase(urls.applicationUrl, name),
      ownerUrl: inDatabase(urls.ownerUrl, name),
    };
    // A copy has none of the rights on its template.
    await prepareDatabase({ adminUrl: inDatabase(urls.databaseUrl, 'postgres'), ...database }, MODULES, true);
  });
  return database!;
};

/** Drops a database, with the connections that a spec left open. */
const dropDatabase = (url: string): Promise<void> =>
  asAdministrator(async (client) => {
    await client.query(`drop database ${new URL(url).pathname.slice(1)} with (force)`);
  });

const stopServer = async (): Promise<void> => (await databases)?.stop();

/** A waiting stack costs a twentieth of a core: keeping it so long costs less than another start. */
const UNUSED_FOR_MS = 180_000;

interface Running {
  readonly folder: string;
  readonly process: StackProcess;
}

let running: Promise<Running> | undefined;
let unused: NodeJS.Timeout | undefined;

const startShared = async (): Promise<Running> => {
  const folder = await preparedDataDir();
  return {
    folder,
    process: await startStackProcess(folder, RECEIVER_SETTINGS),
  };
};

/** @returns the data folder of the stack, which it starts when there is none */
const useStack = async (): Promise<string> => {
  clearTimeout(unused);
  running ??= startShared();
  try {
    return (await running).folder;
  } catch (error) {
    running = undefined;
    throw error;
  }
};

/** The stack stays for the next spec, but not for long. */
const releaseStack = (): void => {
  clearTimeout(unused);
  unused = setTimeout(() => void stopStack(), UNUSED_FOR_MS);
};

const stopStack = async (): Promise<void> => {
  const stopping = running;
  running = undefined;
  const stack = await stopping?.catch(() => undefined);
  if (!stack) return;
  await stack.process.stop();
  removeDataFolder(stack.folder);
};

const services: {
  [Path in keyof Services]: (asked: Services[Path]['asks']) => Promise<Services[Path]['answers']>;
} = {
  '/ops': async ({ args, environment }) => {
    process.env = { ...environment };
    Object.assign(captured, { stdout: '', stderr: '' });
    return { code: await run(args), ...captured };
  },
  '/credits': async (gift) => {
    await giveCredits(gift);
    return null;
  },
  '/database': makeDatabase,
  '/drop': async ({ url }) => {
    await dropDatabase(url);
    return null;
  },
  '/stack': useStack,
  '/stack/release': async () => {
    releaseStack();
    return null;
  },
};

const answerTo = async (request: IncomingMessage): Promise<unknown> => {
  const service = services[request.url as keyof Services] as (asked: unknown) => Promise<unknown>;
  return service(await json(request));
};

/** One after the other: commands share the process's environment and output. */
let last: Promise<unknown> = Promise.resolve();

const [socket = ''] = process.argv.slice(2);
const server = createServer((request, response) => {
  // The caller left, and nobody knows when its command would end.
  response.once('close', () => void (response.writableFinished || end()));
  last = last
    .then(() => answerTo(request))
    .then(
      (answer) => response.end(JSON.stringify(answer)),
      (error: unknown) => response.writeHead(500).end(String(error)),
    );
});
// Of a companion that was killed.
rmSync(socket, { force: true });
server.listen(socket);

/** Nobody finds it from now on, and its database and its stack end. */
const end = (): void => {
  rmSync(socket, { force: true });
  void Promise.race([Promise.allSettled([stopServer(), stopStack()]), sleep(ENDS_WITHIN_MS)]).then(() =>
    process.exit(),
  );
};
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, end);
const parent = process.ppid;
setInterval(() => void (process.ppid === parent || end()), 1_000);
