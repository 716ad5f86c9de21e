import { execFileSync, type ChildProcess, spawn } from 'node:child_process';
import { readFileSync, appendFileSync, closeSync, fstatSync, openSync, renameSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { identify, isRunning, type ProcessIdentity } from '#embedded-event-store/log/folder-lock.js';
import { readJson, writePrivateJsonIfRoom, StackError } from './data-folder.js';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { z } from 'zod';

/** The arguments a process was started with, joined by spaces; empty if the process does not exist. */
export const commandLine = (pid: number): string => {
  try {
    if (process.platform === 'linux')
      return readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ');
    return execFileSync('ps', ['-o', 'command=', '-p', String(pid)], { encoding: 'utf8' });
  } catch {
    return '';
  }
};

/** Ends a process: sends `signal`, then SIGKILL after `patienceMs`. Resolves when the process is gone. */
export const endProcess = async (
  identity: ProcessIdentity,
  signal: NodeJS.Signals,
  patienceMs: number,
): Promise<void> => {
  for (const next of [signal, 'SIGKILL'] as const) {
    if (!isRunning(identity)) return;
    try {
      process.kill(identity.pid, next);
    } catch {
      return;
    }
    for (let waited = 0; waited < patienceMs && isRunning(identity); waited += 25) await sleep(25);
  }
};

const ORPHAN_PATIENCE_MS = 4_000;

/** The children of this stack, on disk, so that a start after a crash can identify its orphans. */
export class ProcessRecord {
  private readonly children = new Map<string, ProcessIdentity>();

  constructor(private readonly path: string) {}

  add(name: string, pid: number): void {
    const identity = identify(pid);
    if (!identity) return;
    this.children.set(name, identity);
    this.save();
  }

  remove(name: string, pid: number): void {
    if (this.children.get(name)?.pid !== pid) return;
    this.children.delete(name);
    this.save();
  }

  pids(): Record<string, number> {
    return Object.fromEntries([...this.children].map(([name, { pid }]) => [name, pid]));
  }

  /** Ends what an earlier run recorded, if it is still the same process. */
  async endOrphans(): Promise<void> {
    const noted = Object.entries((readJson(this.path) ?? {}) as Record<string, ProcessIdentity>);
    await Promise.all(
      noted.map(([name, identity]) =>
        endProcess(identity, name === 'postgres' ? 'SIGINT' : 'SIGTERM', ORPHAN_PATIENCE_MS),
      ),
    );
    this.save();
  }

  private save(): void {
    writePrivateJsonIfRoom(this.path, Object.fromEntries(this.children));
  }
}

const LARGEST_BYTES = 10 * 1024 * 1024;
const TAIL_BYTES = 2_000;

/** The output of one child: `<name>.log`, with the previous 10 MiB in `<name>.log.1`. */
export class LogFile {
  readonly path: string;
  private file: number;
  private bytes: number;
  private tail = '';

  constructor(folder: string, name: string) {
    this.path = join(folder, `${name}.log`);
    this.file = openSync(this.path, 'a', 0o600);
    this.bytes = fstatSync(this.file).size;
  }

  /** Never fails: a full disk must not end the stack. */
  append(output: Buffer): void {
    this.tail = (this.tail + output.toString('utf8')).slice(-TAIL_BYTES);
    try {
      if (this.bytes + output.length > LARGEST_BYTES) this.rotate();
      // Writes all of it, or throws.
      appendFileSync(this.file, output);
      this.bytes += output.length;
    } catch {
      // What the disk has no room for is missing here; the tail has it.
    }
  }

  /** The last lines written by this run, indented, to show why a child exited. */
  lastLines(count: number): string {
    const lines = this.tail.split('\n').filter((line) => line.trim() !== '');
    return lines
      .slice(-count)
      .map((line) => `  ${line}`)
      .join('\n');
  }

  private rotate(): void {
    renameSync(this.path, `${this.path}.1`);
    closeSync(this.file);
    this.file = openSync(this.path, 'a', 0o600);
    this.bytes = 0;
  }
}

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

interface Launch {
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

const MOST_RESTARTS = 5;
const RESTART_WINDOW_MS = 60_000;
const FIRST_PAUSE_MS = 100;
const LONGEST_PAUSE_MS = 5_000;

interface Service<Ready> {
  readonly name: string;
  readonly log: LogFile;
  /** The signal that requests a graceful stop. */
  readonly stopSignal: 'SIGTERM' | 'SIGINT';
  launch(): Launched<Ready>;
}

export interface SupervisorEvents {
  say(line: string): void;
  /** Resolves when there is room to start a service; default: at once. @returns whether it had to wait */
  untilRoom?(): Promise<boolean>;
  /** A service runs again, with a new process id. */
  onRestart(): void;
  /** A service could not be kept running; the message names it and its log. */
  onGivenUp(message: string): void;
}

/** Keeps one child running. Restarts it when it dies, at most 5 times in a minute and with increasing pauses. */
export class Supervisor<Ready> {
  private current?: Launched<Ready>;
  private stopping = false;
  private restarts: number[] = [];

  constructor(
    private readonly service: Service<Ready>,
    private readonly events: SupervisorEvents,
  ) {}

  /** Starts the child. @throws Error with the last lines of its output if it does not become ready */
  async start(): Promise<Ready> {
    if (this.stopping) throw new Error(`${this.service.name} is not started: the stack is stopping`);
    const launched = this.service.launch();
    this.current = launched;
    try {
      const ready = await launched.ready;
      void launched.exited.then((how) => this.onExit(launched, how));
      return ready;
    } catch (error) {
      await launched.exited;
      throw new StackError(
        `${(error as Error).message}; see ${this.service.log.path}\n${this.service.log.lastLines(5)}`,
      );
    }
  }

  /** Asks the child to stop, and kills it after `withinMs`. Resolves when it is gone. */
  async stop(withinMs: number): Promise<void> {
    this.stopping = true;
    if (this.current) await this.end(this.current, withinMs);
  }

  private async end(launched: Launched<Ready>, withinMs: number): Promise<void> {
    launched.kill(this.service.stopSignal);
    const force = setTimeout(() => launched.kill('SIGKILL'), withinMs);
    await launched.exited;
    clearTimeout(force);
  }

  private async onExit(launched: Launched<Ready>, how: string): Promise<void> {
    const isReplaced = () => this.stopping || this.current !== launched;
    let reason = how;
    while (!isReplaced()) {
      // On a full disk, a service dies through no fault of its own.
      if (await this.events.untilRoom?.()) this.restarts = [];
      if (isReplaced()) return;
      const now = Date.now();
      this.restarts = [...this.restarts.filter((at) => now - at < RESTART_WINDOW_MS), now];
      if (this.restarts.length > MOST_RESTARTS) {
        this.events.onGivenUp(
          `${this.service.name} ended ${this.restarts.length} times within a minute (${reason}); see ${this.service.log.path}`,
        );
        return;
      }
      this.events.say(
        `${this.service.name} ended (${reason}); restarting it. Its log: ${this.service.log.path}`,
      );
      await sleep(Math.min(FIRST_PAUSE_MS * 2 ** (this.restarts.length - 1), LONGEST_PAUSE_MS));
      if (isReplaced()) return;
      try {
        await this.start();
        this.events.onRestart();
        return;
      } catch (error) {
        reason = (error as Error).message;
        launched = this.current ?? launched;
      }
    }
  }
}
