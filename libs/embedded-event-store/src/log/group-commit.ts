import { statfsSync } from 'node:fs';
import type { LogStore, LogWrite } from './log-store.js';

interface Waiting {
  readonly write: LogWrite;
  readonly resolve: () => void;
}

export interface GroupCommitOptions {
  /** Called after each flush, before its appends are acknowledged. */
  readonly onCommitted: () => void;
  /**
   * Called once when a flush fails. The failed appends already have revisions and positions, so the process
   * must end. A new process starts from the durable state.
   */
  readonly onFailure: (error: unknown) => void;
  /** Each flush begins once this resolves. */
  readonly quorum?: (() => Promise<void>) | undefined;
}

/**
 * Collects appends during a flush and writes all of them in the next one. A synced transaction carries one
 * append when the store is idle and hundreds under load. At most one flush is in flight.
 */
export class GroupCommit {
  private waiting: Waiting[] = [];
  private flushing = false;
  private failed = false;
  private bytes = 0;

  constructor(
    private readonly store: LogStore,
    private readonly options: GroupCommitOptions,
    private readonly streamCount: () => number,
  ) {}

  /** Bytes that are accepted but not yet durable. */
  get pendingBytes(): number {
    return this.bytes;
  }

  /** Resolves when the write is durable. Never resolves after a failed flush. */
  commit(write: LogWrite): Promise<void> {
    for (const record of write.records) this.bytes += record.bytes.length;
    return new Promise((resolve) => {
      this.waiting.push({ write, resolve });
      this.schedule();
    });
  }

  /** Resolves when everything accepted so far is durable. */
  settled(): Promise<void> {
    if (!this.flushing && this.waiting.length === 0) return Promise.resolve();
    // An empty write at the end of the queue.
    return this.commit({ records: [], heads: [] });
  }

  private schedule(): void {
    if (this.flushing || this.failed) return;
    this.flushing = true;
    // Run after the input of this event-loop turn, so that requests that arrived together share a flush.
    setImmediate(() => void this.flush());
  }

  private async flush(): Promise<void> {
    const batch = this.waiting;
    this.waiting = [];
    const writes = batch.map(({ write }) => write);
    try {
      await this.options.quorum?.();
      if (writes.some(({ heads }) => heads.length > 0)) await this.store.write(writes, this.streamCount());
    } catch (error) {
      this.failed = true;
      this.options.onFailure(error);
      return;
    }
    for (const { records } of writes) for (const record of records) this.bytes -= record.bytes.length;
    this.options.onCommitted();
    for (const { resolve } of batch) resolve();
    this.flushing = false;
    if (this.waiting.length > 0) this.schedule();
  }
}

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
