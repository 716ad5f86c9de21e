import { setTimeout as delay } from 'node:timers/promises';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { startRelay } from '#event-sourcing/testing/relay.js';
import { freeBytes } from '#platform/disk/disk-reserve.js';
import { fill, removeDisk, smallDisk } from '../../crash/support/small-disk.js';
import { DEFAULT_LIMITS } from '../../support/default-limits.js';
import { Integrator } from '../../support/integrator.js';
import { FALLS, startPostgresPair, type PostgresPair } from '../../support/postgres-pair.js';
import type { ChildName } from '../../support/stack-process.js';
import { startStack } from '../../support/start-stack.js';
import { startStores } from '../../support/start-processes.js';
import {
  after,
  type FaultKind,
  type Measured,
  startInstallation,
  startStore,
  worksOf,
} from './installation.js';

const CREDITS = 10_000_000;
/** Longer than any limit of a call. */
const PAUSE_MS = 5_000;
const DISK_MEBIBYTES = 500;
const RESERVE_MIB = 100;
const MEBIBYTE = 2 ** 20;

/** A network between the service and a store of one node. */
export const networkFaults: FaultKind = {
  name: 'network',
  start: async () => {
    const store = await startStore();
    const relay = await startRelay(store.port);
    const works = await startInstallation(`esdb://127.0.0.1:${relay.port}?tls=false`);
    const disconnect = (): void => {
      relay.refuse(true);
      relay.cut();
    };
    return {
      works,
      faults: [
        { fault: 'the connection to the store is reset', inflict: relay.cut },
        {
          fault: 'the network to the store is down for 5 s',
          inflict: disconnect,
          otherSide: after(PAUSE_MS, () => relay.refuse(false)),
        },
        {
          fault: 'the store is frozen for 5 s (one node)',
          inflict: () => relay.hold('all'),
          otherSide: after(PAUSE_MS, relay.release),
        },
        { fault: 'the connection falls silent, and new ones work', inflict: relay.freeze },
        { fault: 'the connection is closed in one direction', inflict: () => relay.halfClose('answers') },
      ],
      stop: [works.stop, relay.stop, store.stop],
    };
  },
};

/** Processes of the embedded stack that end. The stack starts them again. */
export const stackFaults: FaultKind = {
  name: 'stack',
  start: async () => {
    const stack = await startStack({ env: DEFAULT_LIMITS });
    const ending = (what: string, name: ChildName, signal: NodeJS.Signals): Measured => ({
      fault: `embedded stack: ${what}`,
      inflict: async () => {
        const pid = stack.pids()[name];
        process.kill(pid, signal);
        while (isRunning(pid)) await delay(5);
      },
    });
    return {
      works: worksOf(await Integrator.open(stack, CREDITS)),
      faults: [
        ending('the event store restarts (SIGTERM)', 'event-store', 'SIGTERM'),
        ending('the event store is killed', 'event-store', 'SIGKILL'),
        ending('PostgreSQL restarts (SIGINT: fast shutdown)', 'postgres', 'SIGINT'),
        ending('PostgreSQL is killed', 'postgres', 'SIGKILL'),
        ending('the API is killed', 'api', 'SIGKILL'),
        ending('the worker is killed', 'worker', 'SIGKILL'),
      ],
      stop: [stack.stop],
    };
  },
};

const isRunning = (pid: number): boolean => {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
};

/** The disk of the embedded stack. */
export const diskFaults: FaultKind = {
  name: 'disk',
  start: async () => {
    const disk = smallDisk(DISK_MEBIBYTES);
    if (disk === null) return 'this user may not mount a disk';
    const env = { ...DEFAULT_LIMITS, DISK_RESERVE_MIB: String(RESERVE_MIB) };
    const stack = await startStack({ dataDir: join(disk, 'data'), env });
    const ballast = join(disk, 'full');
    return {
      works: worksOf(await Integrator.open(stack, CREDITS)),
      faults: [
        {
          fault: 'embedded stack: the disk is short of its reserve for 5 s',
          inflict: () => fill(ballast, freeBytes(disk) - (RESERVE_MIB - 10) * MEBIBYTE),
          otherSide: after(PAUSE_MS, () => rmSync(ballast)),
        },
      ],
      stop: [stack.stop, () => removeDisk(disk)],
    };
  },
};

/** A synchronous standby becomes the primary, behind a proxy that leads to it from then on. */
export const promotion: FaultKind = {
  name: 'promotion',
  start: async () => {
    let pair: PostgresPair | undefined;
    const settings = {
      LOG_LEVEL: 'silent',
      RATE_CREATE_PER_MINUTE: '1000000',
      DATABASE_QUERY_TIMEOUT_MS: '5000',
    };
    const stores = await startStores(settings, {
      startDatabase: async (folder, password, record) =>
        (pair = await startPostgresPair(folder, password, record)),
    });
    const [api, worker] = await Promise.all([stores.start('api'), stores.start('worker')]);
    const attach = () => pair!.attach('synchronous');
    await attach();
    let promoted = Promise.resolve();
    const names = {
      killed: 'the primary is killed, and its standby promoted',
      frozen:
        'the primary freezes (SIGSTOP), and its standby is promoted; calls on old connections fail after 5 s',
      'handed over': 'the primary is shut down, and its standby promoted',
    };
    return {
      works: worksOf(await Integrator.open({ ...stores, baseUrl: api.baseUrl } as never, CREDITS)),
      faults: FALLS.map((fall) => ({
        fault: `PostgreSQL: ${names[fall]}`,
        // The calls begin with the fault, and the promotion takes its time.
        inflict: () => void (promoted = pair!.promote(fall)),
        otherSide: async () => {
          const startedAt = performance.now();
          await promoted;
          return (performance.now() - startedAt) / 1_000;
        },
        mend: attach,
      })),
      stop: [api.stop, worker.stop, stores.stop],
    };
  },
};
