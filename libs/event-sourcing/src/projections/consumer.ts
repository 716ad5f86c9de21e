import type { StoredEvent } from '../core/event.js';
import type { Step } from './statement.js';

/**
 * Follows the log with a durable checkpoint: a projection or a process. It handles events in log order, at least once.
 * Its rows and its checkpoint commit in one transaction.
 */
export interface Consumer {
  /** Key of its checkpoint. A new name starts again from the birth position. */
  readonly name: string;
  /** The name under which operators set events aside for it. Default: its own. */
  readonly reader?: string;
  /** Stream categories it follows. */
  readonly categories: readonly string[];
  /** Where its first run starts: at the beginning of the log, or at its current end. */
  readonly birth: 'beginning' | 'now';
  /**
   * Whether an event of its categories can change anything. The checkpoint moves past other events only with the next
   * one that can, or after a second. Default: all can. Never throws; true for an event that does not decode.
   */
  follows?(event: StoredEvent): boolean;
  /**
   * What it parks together when an event fails: events whose order matters. Default: the id of the stream, because
   * streams of one id change the same rows. Never throws, also for an event that does not decode.
   */
  keyOf?(event: StoredEvent): string;
  /** Effects outside Postgres. They must be idempotent: they run again when the transaction fails. */
  dispatch?(events: readonly StoredEvent[]): Promise<void>;
  /** Pure: what these events change in Postgres. */
  steps(events: readonly StoredEvent[]): readonly Step[];
  /** Called after the commit, only by the runner that moved the checkpoint. For measurements; must not throw. */
  handled?(events: readonly StoredEvent[]): void;
}
