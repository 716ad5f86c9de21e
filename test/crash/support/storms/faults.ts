import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { freeBytes } from '#platform/disk/disk-reserve.js';
import type { Random } from '../../../support/random.js';
import { fill } from '../small-disk.js';
import { LOSSES, type Direction } from './link.js';
import type { StormyService } from './stormy-service.js';

const MEBIBYTE = 1024 * 1024;

/** One fault, from its beginning to its end. */
export interface Fault {
  /** One line: what, where and how long. */
  readonly what: string;
  strike(): Promise<void>;
}

/** The faults of one storm. They strike at the same time. */
export type Forecast = (service: StormyService, random: Random, longestMs: number) => readonly Fault[];

const DIRECTIONS: readonly [readonly Direction[], ...(readonly Direction[])[]] = [
  ['up'],
  ['down'],
  ['up', 'down'],
];
const ARROWS_CUT = 3;
const BEGINS_WITHIN_MS = 1_000;
const LEAST_MS = 200;

const seconds = (milliseconds: number): string => `${(milliseconds / 1_000).toFixed(1)} s`;

const some = <T>(items: readonly T[], count: number, random: Random): readonly T[] => {
  const left = [...items];
  return Array.from({ length: count }, () => left.splice(random.between(0, left.length - 1), 1)[0]!);
};

/** A fault with a beginning and an end, which `begin` returns. */
const lasting = (what: string, random: Random, longestMs: number, begin: () => () => void): Fault => {
  const [afterMs, lastsMs] = [random.between(0, BEGINS_WITHIN_MS), random.between(LEAST_MS, longestMs)];
  return {
    what: `${what}, after ${seconds(afterMs)} for ${seconds(lastsMs)}`,
    strike: async () => {
      await delay(afterMs);
      const end = begin();
      await delay(lastsMs);
      end();
    },
  };
};

/** Some arrows pass no bytes in one direction, or in both. Several may be of one process, or lead to one server. */
const partition: Forecast = ({ links }, random, longestMs) =>
  some([...links], random.between(1, ARROWS_CUT), random).map(([name, link]) => {
    const [directions, loss] = [random.pick(DIRECTIONS), random.pick(LOSSES)];
    return lasting(`${name} ${directions.join('+')} ${loss}`, random, longestMs, () => {
      link.cut(directions, loss);
      return link.mend;
    });
  });

/** Some processes stand still, the stores among them. A store's answers and a worker's leases come too late. */
const pause: Forecast = (service, random, longestMs) =>
  some(Object.keys(service.pids()), random.between(1, 2), random).map((name) =>
    lasting(`${name} stands still`, random, longestMs, () => {
      const frozen = withChildren(service.pids()[name]!);
      for (const pid of frozen) signal(pid, 'SIGSTOP');
      return () => frozen.forEach((pid) => signal(pid, 'SIGCONT'));
    }),
  );

/** A process and its children, such as PostgreSQL's sessions. */
const withChildren = (pid: number): readonly number[] => {
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').split(' ').filter(Boolean);
  return [pid, ...children.map(Number)];
};

/** A session of PostgreSQL may have ended meanwhile. */
const signal = (pid: number, name: 'SIGSTOP' | 'SIGCONT'): void => {
  try {
    process.kill(pid, name);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
};

/** What somebody else leaves free on the disk (MiB): below the reserve, below what appends need, or nothing. */
const LEFT_MIB: readonly [number, ...number[]] = [90, 40, 12, 0];

/**
 * Somebody else fills the disk of the stores, in one or more steps.
 * @param folder a small disk, where the stores keep their data
 */
export const diskFilling =
  (folder: string): Forecast =>
  (_, random, longestMs) => {
    const steps = Array.from({ length: random.between(1, 3) }, () => ({
      leftMib: random.pick(LEFT_MIB),
      lastsMs: random.between(LEAST_MS, longestMs),
    }));
    const path = join(folder, 'of-somebody-else');
    return [
      {
        what: `the disk has ${steps.map(({ leftMib, lastsMs }) => `${leftMib} MiB for ${seconds(lastsMs)}`).join(', ')}`,
        strike: async () => {
          try {
            for (const { leftMib, lastsMs } of steps) {
              fill(path, Math.max(0, freeBytes(folder) - leftMib * MEBIBYTE));
              await delay(lastsMs);
            }
          } finally {
            rmSync(path, { force: true });
          }
        },
      },
    ];
  };

export const FORECASTS = { partition, pause } as const;
