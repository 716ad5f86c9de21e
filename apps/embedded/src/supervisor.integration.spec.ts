import { afterEach, describe, expect, it } from '@jest/globals';
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { launch } from './launched.js';
import { LogFile } from './log-file.js';
import { identify, ProcessRecord } from './processes.js';
import { Supervisor } from './supervisor.js';

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
