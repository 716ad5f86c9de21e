import type { GroupRecord } from './settings.js';

export interface CheckpointerParts {
  /** Place of the first event not yet processed. */
  readonly reached: () => bigint;
  /** Makes the group's record durable. */
  readonly save: (record: GroupRecord) => Promise<void>;
  readonly report: (message: string) => void;
}

/**
 * Saves a group's progress: after `maxCheckpointCount` events, or after `checkpointAfterMs` if at least
 * `minCheckpointCount` events were processed.
 */
export class Checkpointer {
  private sinceLast = 0;
  private timer: NodeJS.Timeout | undefined;
  private writing = Promise.resolve();
  private stopped = false;

  constructor(
    private current: GroupRecord,
    private readonly parts: CheckpointerParts,
  ) {}

  /** The group's record with the last checkpoint. */
  get record(): GroupRecord {
    return this.current;
  }

  /** Counts one processed event. */
  count(): void {
    if (this.stopped) return;
    this.sinceLast++;
    if (this.sinceLast >= this.current.settings.maxCheckpointCount) this.write();
    else this.timer ??= this.later();
  }

  /** Starts writing the checkpoint. A failure is reported; the next write repairs it. */
  private write(): void {
    this.writing = this.writeDurably().catch((error: unknown) => {
      this.parts.report(`A checkpoint could not be written: ${String(error)}`);
    });
  }

  /** Writes no further checkpoint. Resolves when the last one is durable. */
  async stop(): Promise<void> {
    clearTimeout(this.timer);
    this.stopped = true;
    await this.writing;
  }

  private async writeDurably(): Promise<void> {
    clearTimeout(this.timer);
    this.timer = undefined;
    this.sinceLast = 0;
    const checkpoint = this.parts.reached();
    if (checkpoint === (this.current.checkpoint ?? this.current.startAt)) return;
    this.current = { ...this.current, checkpoint };
    await this.parts.save(this.current);
  }

  private later(): NodeJS.Timeout {
    const { minCheckpointCount, checkpointAfterMs } = this.current.settings;
    return setTimeout(() => {
      this.timer = undefined;
      if (this.sinceLast >= minCheckpointCount) this.write();
      else this.timer = this.later();
    }, checkpointAfterMs);
  }
}
