import { Inject, Injectable } from '@nestjs/common';
import type { Clock } from '@app/event-sourcing/core/clock.js';
import { causedBy } from '@app/event-sourcing/core/request-context.js';
import { CLOCK } from '@app/platform/tokens.js';
import type { ReadingJob } from '../contracts/reading-job.js';
import type { ReadingCommand } from '../domain/reading/reading.commands.js';
import { READING_EXECUTOR, type ReadingExecutor } from '../reading.executor.js';

/** What a reading's durable timers do when they fire. A reading that has ended does not change. */
@Injectable()
export class ReadingTimers {
  constructor(
    @Inject(READING_EXECUTOR) private readonly executor: ReadingExecutor,
    @Inject(CLOCK) private readonly clock: Clock,
  ) {}

  delay(job: ReadingJob): Promise<void> {
    return this.goesOff(job, 'delay', { type: 'DelayReading' });
  }

  timeOut(job: ReadingJob): Promise<void> {
    return this.goesOff(job, 'time-out', { type: 'TimeOutReading' });
  }

  private async goesOff(job: ReadingJob, intent: string, command: ReadingCommand): Promise<void> {
    const { readingId, workspaceId } = job;
    const by = causedBy(job, 'readings.timer');
    await this.executor.execute(readingId, command, { intent, by, workspaceId, at: this.clock.now() });
  }
}
