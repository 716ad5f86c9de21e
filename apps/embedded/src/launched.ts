import { type ChildProcess, spawn } from 'node:child_process';
import { setTimeout as sleep } from 'node:timers/promises';
import type { LogFile } from './log-file.js';
import type { ProcessRecord } from './processes.js';
import { createInterface } from 'node:readline';
import { z } from 'zod';

/** A slow machine under load takes a minute; a child that fails says so before. */
const READY_WITHIN_MS = 180_000;

export interface Launched<Ready> {
  readonly pid: number;
  /** Rejects when the child exits before it is ready or is not ready within 3 min. */
  readonly ready: Promise<Ready>;
  /** Never rejects; describes how the child exited. */
  readonly exited: Promise<string>;
  kill(signal: NodeJS.Signals): void;
}

export interface Launch {
  readonly name: string;
  readonly command: string;
  readonly args: readonly string[];
  readonly environment: NodeJS.ProcessEnv;
  readonly log: LogFile;
  readonly record: ProcessRecord;
  readonly workingFolder?: string;
  readonly account?: { readonly uid: number; readonly gid: number };
  /** What it probably means when the program reads memory that it does not have. */
  readonly crashHint?: string;
}

/** Signals of a program that reads memory it does not have, such as a mapped file with damaged links. */
const CRASHES: readonly (NodeJS.Signals | null)[] = ['SIGSEGV', 'SIGBUS', 'SIGABRT'];

/**
 * Spawns a child in a session of its own, so that Ctrl-C reaches it only through this process. Its standard input stays
 * open: a child that watches it notices when this process dies.
 */
export const launch = <Ready>(
  { name, command, args, environment, log, record, workingFolder, account, crashHint }: Launch,
  readiness: (child: ChildProcess) => Promise<Ready>,
): Launched<Ready> => {
  const child = spawn(command, args, {
    env: environment,
    cwd: workingFolder,
    detached: true,
    stdio: ['pipe', 'pipe', 'pipe'],
    ...account,
  });
  const exited = new Promise<string>((resolve) => {
    child.once('error', (error) => resolve(error.message));
    child.once('exit', (code, signal) => {
      const hint = crashHint !== undefined && CRASHES.includes(signal) ? `: ${crashHint}` : '';
      resolve(signal ? `killed by ${signal}${hint}` : `exit code ${code}`);
    });
  });
  child.stdin.on('error', () => undefined);
  for (const output of [child.stdout, child.stderr]) output.on('data', (chunk: Buffer) => log.append(chunk));
  const pid = child.pid ?? 0;
  if (pid !== 0) record.add(name, pid);
  void exited.then(() => record.remove(name, pid));

  const patience = new AbortController();
  const ready = Promise.race([
    readiness(child),
    exited.then((how) => Promise.reject(new Error(`${name} ended while starting (${how})`))),
    sleep(READY_WITHIN_MS, undefined, { signal: patience.signal, ref: false }).then(() => {
      child.kill('SIGKILL');
      throw new Error(`${name} was not ready within ${READY_WITHIN_MS / 1000} s`);
    }),
  ]).finally(() => patience.abort());
  ready.catch(() => undefined);
  return { pid, ready, exited, kill: (signal) => void child.kill(signal) };
};

/** The JSON line with which a child reports that it is ready, among its log lines. */
const announcement = z.object({ event: z.enum(['listening', 'working']), port: z.number().int().optional() });
export type Announcement = z.infer<typeof announcement>;

/** Young generation in MB, as in the Dockerfile: the default of 16 copies what lives during a request several times. */
export const SERVICE_FLAGS = ['--max-semi-space-size=32'];

/** In MB. What it sends lies outside the heap: a young generation that fills slowly lets it pile up. */
export const EVENT_STORE_FLAGS = ['--max-semi-space-size=8'];

/** Starts a program of the project, an absolute path, with the current Node binary. */
export const launchNode = (
  program: string,
  options: Omit<Launch, 'command'>,
  flags = SERVICE_FLAGS,
): Launched<Announcement> =>
  launch({ ...options, command: process.execPath, args: [...flags, program, ...options.args] }, announced);

const announced = (child: ChildProcess): Promise<Announcement> =>
  new Promise((resolve) => {
    if (!child.stdout) return;
    const lines = createInterface({ input: child.stdout });
    lines.on('line', (line) => {
      const parsed = parse(line);
      if (!parsed) return;
      lines.close();
      // Closing the line reader pauses the stream; resume it for the log.
      child.stdout?.resume();
      resolve(parsed);
    });
  });

const parse = (line: string): Announcement | undefined => {
  if (!line.startsWith('{"event"')) return undefined;
  try {
    return announcement.safeParse(JSON.parse(line)).data;
  } catch {
    return undefined;
  }
};
