import { randomFillSync } from 'node:crypto';
import { existsSync, rmSync } from 'node:fs';
import { open, rename } from 'node:fs/promises';
import { join } from 'node:path';
import { freeBytes } from '#platform/disk/disk-reserve.js';
import { StackError } from './stack-error.js';

const MEBIBYTE = 1024 * 1024;
/** Size of the file that the stack deletes when the disk is full: room for the log and the last rows of PostgreSQL. */
const BALLAST_BYTES = 32 * MEBIBYTE;
/** The ballast is deleted below this. */
const FULL_BELOW = 8 * MEBIBYTE;
/** Room in which PostgreSQL starts after a crash: a segment of its log. */
const START_FROM = 24 * MEBIBYTE;
const LOOK_EVERY_MS = 500;
/** Pause between two calls of `onShort` (ms). */
const SHORT_EVERY_MS = 1_000;

interface Watched {
  /** The data folder. */
  readonly folder: string;
  /** `DISK_RESERVE_MIB`, in bytes. */
  readonly reserve: number;
  readonly say: (line: string) => void;
  /** Called when there is room again after the disk was full. */
  readonly onRoom: () => void;
  /** Called again and again with the free bytes while they are less than the reserve: prepare for a full disk. */
  readonly onShort: (free: number) => Promise<void>;
}

/**
 * Watches the disk of the data folder. Below the reserve, the API refuses new work by itself. When the disk is full
 * although nothing new was accepted, this deletes a ballast file, so that the databases can continue. No service is
 * started on a full disk: it could not live, and its deaths would end the stack.
 *
 * PostgreSQL panics when it needs a new file for its log and has no room, and reads stop with it. So below the reserve,
 * `onShort` lays in files for it.
 */
export class DiskRoom {
  private readonly timer: NodeJS.Timeout;
  private state: 'enough' | 'low' | 'full' = 'enough';
  private isFilling = false;
  private preparesAt = 0;
  /** Whether the ballast was deleted since the last look: then there is room, and somebody has to know. */
  private wasFull = false;
  private isPreparing = false;
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
    this.state = free < START_FROM || this.wasFull ? 'full' : free < reserve ? 'low' : 'enough';
    this.wasFull = false;
    if (this.state !== 'full') for (const resume of this.waiting.splice(0)) resume();
    if (this.state !== 'enough') void this.prepare(free);
    if (this.state === 'enough' && free >= reserve + BALLAST_BYTES) void this.fill();
    if (this.state === before) return;
    if (before === 'full') onRoom();
    say(lineOf(this.state, folder, reserve));
  }

  /** Free bytes, after the ballast was deleted on a full disk; `null` while the folder cannot be read. */
  private free(): number | null {
    const { folder } = this.watched;
    try {
      this.wasFull = dropBallast(folder) || this.wasFull;
      return freeBytes(folder);
    } catch {
      return null;
    }
  }

  private async prepare(free: number): Promise<void> {
    if (this.isPreparing || performance.now() < this.preparesAt) return;
    this.isPreparing = true;
    await this.watched.onShort(free).catch(() => undefined);
    this.preparesAt = performance.now() + SHORT_EVERY_MS;
    this.isPreparing = false;
  }

  /** Random bytes, because some file systems store zeros in no space. */
  private async fill(): Promise<void> {
    const ballast = ballastOf(this.watched.folder);
    if (this.isFilling || existsSync(ballast)) return;
    this.isFilling = true;
    const draft = `${ballast}.draft`;
    try {
      const file = await open(draft, 'w', 0o600);
      try {
        for (let size = 0; size < BALLAST_BYTES; size += MEBIBYTE)
          await file.write(randomFillSync(Buffer.allocUnsafe(MEBIBYTE)));
      } finally {
        await file.close();
      }
      await rename(draft, ballast);
    } catch {
      rmSync(draft, { force: true });
    } finally {
      this.isFilling = false;
    }
  }
}

/**
 * Makes room before anything is written, the lock included.
 * @throws StackError when nothing can be started, because the disk is full even without the ballast
 */
export const makeRoomToStart = (folder: string): void => {
  dropBallast(folder);
  if (freeBytes(folder) < START_FROM)
    throw new StackError(
      `The disk of ${folder} is full, and nothing was started. Free some space, ${START_FROM / MEBIBYTE} MiB at least.`,
    );
};

const ballastOf = (folder: string): string => join(folder, 'ballast');

/** @returns whether the disk was full and there was a ballast to delete */
const dropBallast = (folder: string): boolean => {
  const ballast = ballastOf(folder);
  if (freeBytes(folder) >= FULL_BELOW || !existsSync(ballast)) return false;
  rmSync(ballast, { force: true });
  return true;
};

const lineOf = (state: 'enough' | 'low' | 'full', folder: string, reserve: number): string => {
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
