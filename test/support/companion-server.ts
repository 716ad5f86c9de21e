import 'reflect-metadata';
import { rmSync } from 'node:fs';
import { createServer, type IncomingMessage } from 'node:http';
import { json } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { run } from '../../apps/ops/src/run.js';
import { dropDatabase, makeDatabase, stopServer } from './companion-postgres.js';
import { releaseStack, stopStack, useStack } from './companion-stack.js';
import { giveCredits, type Gift } from './give-credits.js';
import type { PostgresUrls } from './start-postgres.js';

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
