import { statfsSync } from 'node:fs';

/** Free space is asked for at most this often, milliseconds. */
const DISK_CHECK_INTERVAL_MS = 250;

export interface AdmissionLimits {
  /** Bytes accepted and not durable yet, at most. */
  readonly maxPendingBytes: number;
  /** Bytes that must stay free on the disk of the data folder. */
  readonly reservedDiskBytes: number;
}

/**
 * Refuses appends before they are numbered: when the disk is nearly full, because an append that cannot be made
 * durable once it is numbered ends the process, and when more is waiting to be written than memory should hold.
 */
export class Admission {
  private checkedAt = -Infinity;
  private full = false;

  constructor(
    private readonly folder: string,
    private readonly limits: AdmissionLimits,
    private readonly pendingBytes: () => number,
    private readonly now: () => number,
  ) {}

  /** Why an append is refused now, or undefined if it may go on. */
  refusal(): string | undefined {
    if (this.pendingBytes() > this.limits.maxPendingBytes) {
      return 'The event store has too much waiting to be written; try again.';
    }
    return this.diskIsFull() ? 'The disk of the event store is full: nothing can be appended.' : undefined;
  }

  private diskIsFull(): boolean {
    const now = this.now();
    // A clock set back must not put the check off.
    if (Math.abs(now - this.checkedAt) >= DISK_CHECK_INTERVAL_MS) {
      this.checkedAt = now;
      const { bavail, bsize } = statfsSync(this.folder);
      this.full = bavail * bsize < this.limits.reservedDiskBytes;
    }
    return this.full;
  }
}
