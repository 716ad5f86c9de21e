import { setTimeout as delay } from 'node:timers/promises';
import { join } from 'node:path';
import { rmSync } from 'node:fs';
import { freeBytes } from '#platform/disk/disk-reserve.js';
import { fill, removeDisk, smallDisk } from '../../crash/support/small-disk.js';
import { DEFAULT_LIMITS } from '../../support/default-limits.js';
import { Integrator } from '../../support/integrator.js';
import type { ChildName } from '../../support/stack-process.js';
import { startStack, type StackStart } from '../../support/start-stack.js';
import type { Fault, Recovery } from './fault.js';
import { measureAll, worksOf, type Measured, type Works } from './installation.js';

const CREDITS = 10_000_000;
const DISK_MEBIBYTES = 500;
const RESERVE_MIB = 100;
const FULL_FOR_MS = 5_000;
const MEBIBYTE = 2 ** 20;

/** Processes of the embedded stack that end, and its disk. The stack starts what has ended. */
export const stackFaults: Fault = {
  name: 'stack',
  run: async (say) => [...(await endings(say)), ...(await fullDisk(say))],
};

const withStack = async (
  options: StackStart,
  faultsOf: (stack: Awaited<ReturnType<typeof startStack>>) => readonly Measured[],
  say: (text: string) => void,
): Promise<readonly Recovery[]> => {
  const stack = await startStack({ ...options, env: { ...DEFAULT_LIMITS, ...options.env } });
  try {
    const works: Works = worksOf(await Integrator.open(stack, CREDITS));
    return await measureAll(works, faultsOf(stack), say);
  } finally {
    await stack.stop();
  }
};

const endings = (say: (text: string) => void): Promise<readonly Recovery[]> =>
  withStack(
    {},
    (stack) => {
      const ending = (fault: string, name: ChildName, signal: NodeJS.Signals): Measured => ({
        fault,
        inflict: async () => {
          const pid = stack.pids()[name];
          process.kill(pid, signal);
          while (isRunning(pid)) await delay(5);
        },
      });
      return [
        ending('embedded stack: the event store restarts (SIGTERM)', 'event-store', 'SIGTERM'),
        ending('embedded stack: the event store is killed', 'event-store', 'SIGKILL'),
        ending('embedded stack: PostgreSQL restarts (SIGINT: fast shutdown)', 'postgres', 'SIGINT'),
        ending('embedded stack: PostgreSQL is killed', 'postgres', 'SIGKILL'),
        ending('embedded stack: the API is killed', 'api', 'SIGKILL'),
        ending('embedded stack: the worker is killed', 'worker', 'SIGKILL'),
      ];
    },
    say,
  );

const isRunning = (pid: number): boolean => {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
};

const fullDisk = async (say: (text: string) => void): Promise<readonly Recovery[]> => {
  const disk = smallDisk(DISK_MEBIBYTES);
  if (disk === null) {
    say('  disk full: this user may not mount a disk');
    return [];
  }
  const ballast = join(disk, 'full');
  try {
    return await withStack(
      { dataDir: join(disk, 'data'), env: { DISK_RESERVE_MIB: String(RESERVE_MIB) } },
      () => [
        {
          fault: 'embedded stack: the disk is short of its reserve for 5 s',
          inflict: async () => {
            fill(ballast, freeBytes(disk) - (RESERVE_MIB - 10) * MEBIBYTE);
            await delay(FULL_FOR_MS);
            rmSync(ballast);
          },
          otherSide: () => Promise.resolve(FULL_FOR_MS / 1_000),
        },
      ],
      say,
    );
  } finally {
    removeDisk(disk);
  }
};
