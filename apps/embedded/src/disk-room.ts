import { setTimeout as sleep } from 'node:timers/promises';
import { freeBytes } from '#platform/disk/disk-reserve.js';
import { StackError } from './data-folder.js';

const MEBIBYTE = 1024 * 1024;
/** Room in which PostgreSQL starts after a crash. */
const START_FROM = 24 * MEBIBYTE;
const LOOK_EVERY_MS = 500;

type State = 'enough' | 'low' | 'full';

/**
 * Watches the disk of the data folder, and says when it is short of room. Below the reserve, the API refuses new work by
 * itself. No service is started on a full disk: it could not live, and its deaths would end the stack.
 */
export class DiskRoom {
  private readonly timer: NodeJS.Timeout;
  private state: State = 'enough';
  private isStopped = false;

  /** @param reserve `DISK_RESERVE_MIB`, in bytes */
  constructor(
    private readonly folder: string,
    private readonly reserve: number,
    private readonly say: (line: string) => void,
  ) {
    this.look();
    this.timer = setInterval(() => this.look(), LOOK_EVERY_MS).unref();
  }

  /** Resolves when a service can start: at once, unless the disk is full. @returns whether it had to wait */
  async untilRoom(): Promise<boolean> {
    this.look();
    if (this.state !== 'full') return false;
    while (this.state === 'full' && !this.isStopped) await sleep(LOOK_EVERY_MS);
    return true;
  }

  stop(): void {
    this.isStopped = true;
    clearInterval(this.timer);
  }

  /** A folder that cannot be read for a moment changes nothing. */
  private look(): void {
    const before = this.state;
    try {
      const free = freeBytes(this.folder);
      this.state = free < START_FROM ? 'full' : free < this.reserve ? 'low' : 'enough';
    } catch {
      return;
    }
    if (this.state !== before) this.say(lineOf(this.state, this.folder, this.reserve));
  }
}

/** Before anything is written, the lock included. @throws StackError when nothing can be started on a full disk */
export const requireRoomToStart = (folder: string): void => {
  if (freeBytes(folder) < START_FROM)
    throw new StackError(
      `The disk of ${folder} is full, and nothing was started. Free some space, ${START_FROM / MEBIBYTE} MiB at least.`,
    );
};

const lineOf = (state: State, folder: string, reserve: number): string => {
  const least = `${Math.round(reserve / MEBIBYTE)} MiB (DISK_RESERVE_MIB)`;
  switch (state) {
    case 'enough':
      return `The disk of ${folder} has room again: new work is accepted.`;
    case 'low':
      return `The disk of ${folder} has less than ${least} free: new work is refused with 503. Free some space.`;
    case 'full':
      return `The disk of ${folder} is full: new work is refused, and ended processes wait for room. Free ${least}.`;
  }
};
