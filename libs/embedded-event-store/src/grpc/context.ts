import type { Admission, AdmissionLimits } from '../log/admission.js';
import type { LogStore } from '../log/log-store.js';
import type { StreamWriter } from '../streams/stream-writer.js';
import type { CommitSignal } from '../subscriptions/commit-signal.js';
import type { OpenCalls } from './open-calls.js';

/** Limits of one server. */
export interface Limits extends AdmissionLimits {
  /** Largest append, bytes of data and metadata (EventStoreDB's default: 1 MiB). */
  readonly maxAppendBytes: number;
  /** Milliseconds after which an unfinished write is reported as timed out (EventStoreDB's default: 2 s). */
  readonly commitTimeoutMs: number;
  /** Maximum number of concurrent subscriptions. */
  readonly maxSubscriptions: number;
}

const MIB = 1024 * 1024;

export const DEFAULT_LIMITS: Limits = {
  maxAppendBytes: MIB,
  commitTimeoutMs: 2_000,
  maxSubscriptions: 1_000,
  maxPendingBytes: 64 * MIB,
  reservedDiskBytes: 64 * MIB,
};

/** Dependencies of the services. */
export interface ServerContext {
  readonly store: LogStore;
  readonly writer: StreamWriter;
  readonly admission: Admission;
  readonly signal: CommitSignal;
  readonly calls: OpenCalls;
  readonly limits: Limits;
  /** Milliseconds since 1970. */
  readonly now: () => number;
  /** Logs details for the operator that callers do not receive. */
  readonly report: (message: string) => void;
}
