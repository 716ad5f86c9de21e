import { spawn, type ChildProcess } from 'node:child_process';
import { setTimeout as sleep } from 'node:timers/promises';
import type { LogFile } from './log-file.js';
import type { ProcessRecord } from './processes.js';

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
