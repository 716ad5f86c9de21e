import type { GroupRecord } from './settings.js';

export interface CheckpointerParts {
  /** The first event not processed yet. */
  readonly reached: () => bigint;
  /** Makes the group's record durable. */
  readonly save: (record: GroupRecord) => Promise<void>;
  readonly report: (message: string) => void;
}

/** Keeps how far a group has come: after so many processed events, or after some time if there were a few. */
export class Checkpointer {
  private sinceLast = 0;
  private timer: NodeJS.Timeout | undefined;

  constructor(
    private current: GroupRecord,
    private readonly parts: CheckpointerParts,
  ) {}

  /** The group's record with the last checkpoint. */
  get record(): GroupRecord {
    return this.current;
  }

  /** An event has been processed. */
  count(): void {
    this.sinceLast++;
    if (this.sinceLast >= this.current.settings.maxCheckpointCount) this.write();
    else this.timer ??= this.later();
  }

  /** Writes it soon; a failure is reported and made good by the next one. */
  write(): void {
    this.writeDurably().catch((error: unknown) => {
      this.parts.report(`A checkpoint could not be written: ${String(error)}`);
    });
  }

  async writeDurably(): Promise<void> {
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
