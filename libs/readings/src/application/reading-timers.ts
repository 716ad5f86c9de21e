import { Inject, Injectable } from '@nestjs/common';
import type { Clock } from '@app/event-sourcing/core/clock.js';
import { systemContext, type ReadingJob } from '@app/platform/jobs/reading-job.js';
import { CLOCK } from '@app/platform/tokens.js';
import { READING_EXECUTOR, type ReadingExecutor } from '../reading.executor.js';

/** What the durable timers of a reading do when they go off; a reading that has ended is left alone. */
@Injectable()
export class ReadingTimers {
  constructor(
    @Inject(READING_EXECUTOR) private readonly executor: ReadingExecutor,
    @Inject(CLOCK) private readonly clock: Clock,
  ) {}

  async delay(job: ReadingJob): Promise<void> {
    await this.executor.execute(
      job.readingId,
      { type: 'DelayReading' },
      systemContext(job, 'delay', 'readings.timer', this.clock.now()),
    );
  }

  async timeOut(job: ReadingJob): Promise<void> {
    await this.executor.execute(
      job.readingId,
      { type: 'TimeOutReading' },
      systemContext(job, 'time-out', 'readings.timer', this.clock.now()),
    );
  }
}
