import type { StoredEvent } from '../core/event.js';
import type { Step } from './statement.js';

/**
 * A follower of the log with a durable checkpoint: a projection, or a process. It handles events in log order, at
 * least once; its rows and its checkpoint commit in one transaction.
 */
export interface Consumer {
  /** Key of its checkpoint. Changing it starts from the birth position again. */
  readonly name: string;
  /** Stream categories it follows. */
  readonly categories: readonly string[];
  /** Where it starts on its first run: at the beginning of the log, or at its end as of then. */
  readonly birth: 'beginning' | 'now';
  /**
   * What to do with an event that fails again and again. `park` sets its stream aside and goes on (views);
   * `halt` stops and alerts (money, and everything with effects).
   */
  readonly onPoison: 'park' | 'halt';
  /** Effects outside Postgres, which must be idempotent: they are repeated when the transaction is lost. */
  dispatch?(events: readonly StoredEvent[]): Promise<void>;
  /** Pure: what these events change in Postgres. */
  steps(events: readonly StoredEvent[]): readonly Step[];
  /** Told once rows and checkpoint are committed, by the one runner that moved it. For measurements; must not throw. */
  handled?(events: readonly StoredEvent[]): void;
}
