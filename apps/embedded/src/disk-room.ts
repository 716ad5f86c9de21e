import { freeBytes } from '#platform/disk/disk-reserve.js';
import { StackError } from './stack-error.js';

const MEBIBYTE = 1024 * 1024;
/** Room in which PostgreSQL starts after a crash. */
const START_FROM = 24 * MEBIBYTE;
const LOOK_EVERY_MS = 500;

interface Watched {
  /** The data folder. */
  readonly folder: string;
  /** `DISK_RESERVE_MIB`, in bytes. */
  readonly reserve: number;
  readonly say: (line: string) => void;
  /** Called when there is room again after the disk was full. */
  readonly onRoom: () => void;
}

type State = 'enough' | 'low' | 'full';

/**
 * Watches the disk of the data folder. Below the reserve, the API refuses new work by itself. No service is started on a
 * full disk: it could not live, and its deaths would end the stack.
 */
export class DiskRoom {
  private readonly timer: NodeJS.Timeout;
  private state: State = 'enough';
  private waiting: (() => void)[] = [];

  constructor(private readonly watched: Watched) {
    this.look();
    this.timer = setInterval(() => this.look(), LOOK_EVERY_MS).unref();
  }

  /** Resolves when a service can start: at once, unless the disk is full. @returns whether it had to wait */
  async untilRoom(): Promise<boolean> {
    const free = this.free();
    if (free === null || free >= START_FROM) return false;
    await new Promise<void>((resolve) => this.waiting.push(resolve));
    return true;
  }

  stop(): void {
    clearInterval(this.timer);
    for (const resume of this.waiting.splice(0)) resume();
  }

  private look(): void {
    const { folder, reserve, say, onRoom } = this.watched;
    const free = this.free();
    if (free === null) return;
    const before = this.state;
    this.state = free < START_FROM ? 'full' : free < reserve ? 'low' : 'enough';
    if (this.state !== 'full') for (const resume of this.waiting.splice(0)) resume();
    if (this.state === before) return;
    if (before === 'full') onRoom();
    say(lineOf(this.state, folder, reserve));
  }

  /** Free bytes; `null` while the folder cannot be read. */
  private free(): number | null {
    try {
      return freeBytes(this.watched.folder);
    } catch {
      return null;
    }
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
