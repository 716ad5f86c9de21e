import { statfsSync } from 'node:fs';

/** Minimum time between two checks of the free disk space, milliseconds. */
const DISK_CHECK_INTERVAL_MS = 250;

export interface AdmissionLimits {
  /** Maximum number of bytes that are accepted but not yet durable. */
  readonly maxPendingBytes: number;
  /** Bytes that must stay free on the disk of the data folder. */
  readonly reservedDiskBytes: number;
}

/**
 * Refuses appends before they are numbered. On a nearly full disk, because a numbered append that cannot be
 * made durable ends the process. With too many pending bytes, because they are held in memory.
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

  /** Why appends are refused now, or undefined if they are accepted. */
  refusal(): string | undefined {
    if (this.pendingBytes() > this.limits.maxPendingBytes) {
      return 'The event store has too many pending writes; try again.';
    }
    return this.diskIsFull() ? 'The disk of the event store is full: appends are refused.' : undefined;
  }

  private diskIsFull(): boolean {
    const now = this.now();
    // A clock that is set back must not postpone the check.
    if (Math.abs(now - this.checkedAt) >= DISK_CHECK_INTERVAL_MS) {
      this.checkedAt = now;
      const { bavail, bsize } = statfsSync(this.folder);
      this.full = bavail * bsize < this.limits.reservedDiskBytes;
    }
    return this.full;
  }
}
