import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { programPath } from '#platform/program-path.js';
import { listenOnce, otherEventStore } from '../../../../apps/embedded/src/event-store-process.js';
import { patient } from './client.js';

/** Command line of another event store, with `{port}` and `{data}`; without it, the specs start the embedded one. */
export const OTHER_STORE = process.env['TEST_EVENT_STORE_COMMAND'];

const PROGRAM = programPath('embedded-event-store');

/** An event store in a separate process, so that it can be killed. */
export interface ChildStore {
  readonly process: ChildProcess;
  readonly connectionString: string;
  /** Its output on standard error so far. */
  readonly said: () => string;
  /** Sends a signal and waits for the end. Returns the exit code, or the signal that ended the process. */
  readonly end: (signal: NodeJS.Signals) => Promise<number | NodeJS.Signals | null>;
}

export interface RunOptions {
  /** File size in KiB beyond which the system refuses all writes of the process: a real disk failure. */
  readonly maxFileKib?: number;
}

/** Runs the compiled server; `firstLine` is its first line of standard output, or undefined when it ended. */
export const runProgram = (
  args: readonly string[],
  { maxFileKib }: RunOptions = {},
): { child: ChildProcess; firstLine: Promise<string | undefined> } => {
  if (!existsSync(PROGRAM)) throw new Error(`${PROGRAM} is missing: run "npm run build".`);
  const command = [process.execPath, PROGRAM, ...args];
  // POSIX counts the limit in blocks of 512 bytes.
  const limited = ['sh', '-c', `ulimit -f ${String((maxFileKib ?? 0) * 2)}; exec "$@"`, 'sh', ...command];
  const [file = '', ...rest] = maxFileKib === undefined ? command : limited;
  const child = spawn(file, rest, { stdio: ['pipe', 'pipe', 'pipe'] });
  const lines = createInterface({ input: child.stdout });
  const firstLine = Promise.race([
    once(lines, 'line').then(([line]) => line as string),
    once(child, 'exit').then(() => undefined),
  ]);
  return { child, firstLine };
};

/** What only the embedded store can be told. */
export interface EmbeddedOptions {
  /** Milliseconds. EventStoreDB's are 2,000. */
  readonly commitTimeoutMs?: number;
  /** Files. The store then listens with TLS, as `localhost`. */
  readonly tls?: { readonly cert: string; readonly key: string };
  /** A file with one line: name:password. */
  readonly userFile?: string;
}

type ChildStoreOptions = RunOptions & EmbeddedOptions & { readonly port?: number };

const embeddedArgs = ({ commitTimeoutMs, tls, userFile }: EmbeddedOptions): string[] => [
  ...(commitTimeoutMs === undefined ? [] : ['--commit-timeout', String(commitTimeoutMs)]),
  ...(tls ? ['--tls-cert', tls.cert, '--tls-key', tls.key] : []),
  ...(userFile === undefined ? [] : ['--user-file', userFile]),
];

/** Starts the store that the environment names, or the embedded one. */
export const startChildStore = (dataDir: string, options: ChildStoreOptions = {}): Promise<ChildStore> =>
  OTHER_STORE === undefined
    ? startEmbeddedChild(dataDir, options)
    : startOtherChild(OTHER_STORE, dataDir, options);

const startOtherChild = async (
  commandLine: string,
  dataDir: string,
  { port }: ChildStoreOptions,
): Promise<ChildStore> => {
  const store = otherEventStore(commandLine, port ?? (await listenOnce(0, '127.0.0.1')), dataDir);
  const child = spawn(store.command, store.args, { stdio: ['pipe', 'pipe', 'pipe'] });
  let said = '';
  for (const output of [child.stdout, child.stderr])
    output.on('data', (chunk: Buffer) => (said += chunk.toString()));
  const gone = new AbortController();
  const ended = once(child, 'exit').then(() => {
    gone.abort();
    throw new Error(`The event store ended before it had a leader: ${said}`);
  });
  await Promise.race([store.leads(gone.signal), ended]);
  ended.catch(() => undefined);
  return { process: child, connectionString: patient(store.url), said: () => said, end: endOf(child) };
};

/** Starts the embedded store, for specs about its own process and files. */
export const startEmbeddedChild = async (
  dataDir: string,
  { port = 0, ...options }: ChildStoreOptions = {},
): Promise<ChildStore> => {
  const { child, firstLine } = runProgram(
    ['--data', dataDir, '--port', String(port), '--exit-with-parent', ...embeddedArgs(options)],
    options,
  );
  let said = '';
  child.stderr?.on('data', (chunk: Buffer) => (said += chunk.toString()));
  const line = await firstLine;
  if (line === undefined) {
    throw new Error(
      `The server ended before it listened (${String(child.signalCode ?? child.exitCode)}): ${said}`,
    );
  }
  const listening = JSON.parse(line) as { port: number };
  return {
    process: child,
    connectionString: patient(
      options.tls
        ? `esdb://localhost:${String(listening.port)}`
        : `esdb://127.0.0.1:${String(listening.port)}?tls=false`,
    ),
    said: () => said,
    end: endOf(child),
  };
};

const endOf =
  (child: ChildProcess): ChildStore['end'] =>
  async (signal) => {
    if (child.exitCode !== null || child.signalCode !== null) return child.exitCode ?? child.signalCode;
    const exited = once(child, 'exit') as Promise<[number | null, NodeJS.Signals | null]>;
    child.kill(signal);
    const [code, bySignal] = await exited;
    return code ?? bySignal;
  };
