import { afterEach, describe, expect, it } from '@jest/globals';
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, writeFileSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readJson, takeLock } from './data-folder.js';
import { identify } from '#embedded-event-store/log/folder-lock.js';
import { ProcessRecord, launch, LogFile, Supervisor } from './processes.js';
import { setTimeout as sleep } from 'node:timers/promises';

const newPath = (): string => join(mkdtempSync(join(tmpdir(), 'processes-')), 'file');

const spawned: ChildProcess[] = [];
const child = (command = 'sleep', ...args: string[]): number => {
  const process = spawn(command, args.length > 0 ? args : ['60'], { stdio: 'ignore' });
  spawned.push(process);
  return process.pid!;
};
afterEach(() => spawned.splice(0).forEach((process) => process.kill('SIGKILL')));

describe('the record of child processes', () => {
  it.each([
    ['ends at a signal', []],
    ['ignores signals', ['/bin/sh', '-c', 'trap "" TERM; while :; do sleep 1; done']],
  ])('lets a later run end an orphan that %s', async (_, command) => {
    const path = newPath();
    const pid = child(...command);
    new ProcessRecord(path).add('worker', pid);
    await new ProcessRecord(path).endOrphans();
    expect(identify(pid)).toBeUndefined();
    expect(readJson(path)).toEqual({});
  });

  it('does not touch another process with the same id', async () => {
    const path = newPath();
    const pid = child();
    writeFileSync(path, JSON.stringify({ api: { pid, startedAt: 'long ago' } }));
    await new ProcessRecord(path).endOrphans();
    expect(identify(pid)).toBeDefined();
  });
});

it('A data folder is locked while a running process holds it, which the refusal names', () => {
  const folder = mkdtempSync(join(tmpdir(), 'lock-'));
  const release = takeLock(folder);
  expect(() => takeLock(folder)).toThrow(
    `Already running on ${folder} (process ${process.pid}). Stop it first, or choose another DATA_DIR.`,
  );
  release();
  takeLock(folder)();
});

/**
 * A supervised shell script that is ready at its first output, with everything that was reported and done
 * about it.
 */
const supervised = (script: () => string) => {
  const folder = mkdtempSync(join(tmpdir(), 'supervisor-'));
  const log = new LogFile(folder, 'child');
  const record = new ProcessRecord(join(folder, 'processes.json'));
  const pids: number[] = [];
  const seen = { said: [] as string[], restarts: 0, givenUp: [] as string[] };
  const supervisor = new Supervisor<void>(
    {
      name: 'child',
      log,
      stopSignal: 'SIGTERM',
      launch: () => {
        const launched = launch<void>(
          {
            name: 'child',
            command: '/bin/sh',
            args: ['-c', script()],
            environment: process.env,
            crashHint: 'its file is damaged',
            log,
            record,
          },
          (child) => new Promise((resolve) => child.stdout?.once('data', () => resolve())),
        );
        pids.push(launched.pid);
        return launched;
      },
    },
    {
      say: (line) => seen.said.push(line),
      onRestart: () => seen.restarts++,
      onGivenUp: (message) => seen.givenUp.push(message),
    },
  );
  started.push(supervisor);
  return { supervisor, pids, seen, log };
};

const started: Supervisor<void>[] = [];
afterEach(() => Promise.all(started.splice(0).map((supervisor) => supervisor.stop(100))));

const until = async (condition: () => boolean): Promise<void> => {
  while (!condition()) await sleep(10);
};

const RUNS = 'echo ready; exec sleep 60';

describe('a supervised child', () => {
  it.each([
    ['SIGKILL', 'killed by SIGKILL'],
    ['SIGSEGV', 'killed by SIGSEGV: its file is damaged'],
  ] as const)('is restarted when it ends by %s', async (signal, described) => {
    const { supervisor, pids, seen, log } = supervised(() => RUNS);
    await supervisor.start();
    process.kill(pids[0]!, signal);
    await until(() => seen.restarts === 1);
    expect(identify(pids[1]!)).toBeDefined();
    expect(seen.said).toEqual([`child ended (${described}); restarting it. Its log: ${log.path}`]);
  });

  it('is given up after five restarts within a minute; the message has its name and log', async () => {
    let starts = 0;
    const { supervisor, seen, log } = supervised(() => (starts++ === 0 ? 'echo ready' : 'exit 3'));
    await supervisor.start();
    await until(() => seen.givenUp.length > 0);
    expect(starts).toBe(6);
    expect(seen.givenUp[0]).toMatch(/^child ended 6 times within a minute/);
    expect(seen.givenUp[0]).toContain(log.path);
  });

  it('that fails its first start is reported with its last output and not restarted', async () => {
    const { supervisor, pids, log } = supervised(() => 'echo "cannot open the folder" >&2; exit 2');
    await expect(supervisor.start()).rejects.toThrow(
      `child ended while starting (exit code 2); see ${log.path}\n  cannot open the folder`,
    );
    expect(pids).toHaveLength(1);
  });

  it('is not restarted after a stop', async () => {
    const { supervisor, pids, seen } = supervised(() => RUNS);
    await supervisor.start();
    await supervisor.stop(5_000);
    expect(identify(pids[0]!)).toBeUndefined();
    expect(seen.said).toEqual([]);
    await expect(supervisor.start()).rejects.toThrow('stopping');
  });

  it('is killed when it does not stop in time', async () => {
    const { supervisor, pids } = supervised(() => 'trap "" TERM; echo ready; while :; do sleep 0.1; done');
    await supervisor.start();
    await supervisor.stop(200);
    expect(identify(pids[0]!)).toBeUndefined();
  });
});

const MEBIBYTE = 1024 * 1024;
const newFolder = (): string => mkdtempSync(join(tmpdir(), 'log-'));

describe('the log of a child', () => {
  it('is rotated after 10 MiB and keeps one older file', () => {
    const log = new LogFile(newFolder(), 'api');
    for (let round = 0; round < 25; round++) log.append(Buffer.alloc(MEBIBYTE, String(round % 10)));
    expect(statSync(log.path).size).toBe(5 * MEBIBYTE);
    expect(statSync(`${log.path}.1`).size).toBe(10 * MEBIBYTE);
  });
});
