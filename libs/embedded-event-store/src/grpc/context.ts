import type { Admission, AdmissionLimits } from '../log/group-commit.js';
import type { LogStore } from '../log/log-store.js';
import type { StreamWriter, WriteOutcome } from '../streams/stream-writer.js';

/** Limits of one server. */
export interface Limits extends AdmissionLimits {
  /** Largest append, bytes of data and metadata (EventStoreDB's default: 1 MiB). */
  readonly maxAppendBytes: number;
  /** Milliseconds after which an unfinished write is reported as timed out (EventStoreDB's default: 2 s). */
  readonly commitTimeoutMs: number;
}

const MIB = 1024 * 1024;

export const DEFAULT_LIMITS: Limits = {
  maxAppendBytes: MIB,
  commitTimeoutMs: 2_000,
  maxPendingBytes: 64 * MIB,
  reservedDiskBytes: 64 * MIB,
};

/** Dependencies of the services. */
export interface ServerContext {
  readonly store: LogStore;
  readonly writer: StreamWriter;
  readonly admission: Admission;
  /** Calls back once, after the next commit. @returns a function that withdraws that */
  readonly onCommit: (wake: () => void) => () => void;
  readonly calls: OpenCalls;
  readonly limits: Limits;
  /** Milliseconds since 1970. */
  readonly now: () => number;
  /** Logs details for the operator that callers do not receive. */
  readonly report: (message: string) => void;
}

/** The long-lived calls (reads, subscriptions, append streams), so that a stop can end them. */
export class OpenCalls {
  private readonly enders = new Set<() => void>();
  private closing = false;

  get stopping(): boolean {
    return this.closing;
  }

  /** A call whose caller does not read what it gets stays open. */
  get count(): number {
    return this.enders.size;
  }

  /** Registers how to end a call. The caller runs the returned function when the call ends by itself. */
  add(end: () => void): () => void {
    this.enders.add(end);
    return () => {
      this.enders.delete(end);
    };
  }

  /** Stops accepting new calls; `endAll` ends the open ones. */
  close(): void {
    this.closing = true;
  }

  endAll(): void {
    for (const end of [...this.enders]) end();
    this.enders.clear();
  }
}

/** The write was not durable in time. It is already numbered: it becomes durable later, or the server exits. */
export interface TimedOut {
  readonly kind: 'timed-out';
}

/**
 * Stops waiting when a write takes too long to become durable. The write itself continues, so its outcome is
 * unknown. The caller can learn it by appending the same events again.
 */
export const withinCommitTimeout = async (
  write: Promise<WriteOutcome>,
  commitTimeoutMs: number,
): Promise<WriteOutcome | TimedOut> => {
  let timer: NodeJS.Timeout | undefined;
  const timeout = new Promise<TimedOut>((resolve) => {
    timer = setTimeout(resolve, commitTimeoutMs, { kind: 'timed-out' });
  });
  try {
    return await Promise.race([write, timeout]);
  } finally {
    clearTimeout(timer);
  }
};
