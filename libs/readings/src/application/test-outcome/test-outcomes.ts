import { Inject, Injectable } from '@nestjs/common';
import type { TrustedClock } from '#event-sourcing/core/clock.js';
import { causedBy } from '#event-sourcing/core/request-context.js';
import { EVENT_STORE, type EventStore } from '#event-sourcing/store/event-store.js';
import { SubjectKeys } from '#platform/crypto/subject-keys.js';
import { NotDueYet } from '#platform/jobs/not-due-yet.js';
import { TRUSTED_CLOCK } from '#platform/tokens.js';
import type { ReadingJob } from '../../contracts/reading-job.js';
import { askedOutcome, type TestOutcome } from '../../domain/test-outcome/test-outcome.js';
import { READING_EXECUTOR, type ReadingExecutor } from '../../reading.executor.js';
import { openInput } from '../../sealed-reading.js';
import { requestedAt } from '../reading-timers.js';

/**
 * Makes the outcomes happen that test readings ask for, by the commands and events of a real one. Every wait is a time in
 * the job queue, so it survives the worker.
 */
@Injectable()
export class TestOutcomes {
  constructor(
    @Inject(READING_EXECUTOR) private readonly executor: ReadingExecutor,
    @Inject(EVENT_STORE) private readonly store: Pick<EventStore, 'read'>,
    @Inject(TRUSTED_CLOCK) private readonly clock: TrustedClock,
    private readonly keys: SubjectKeys,
  ) {}

  /**
   * Before the first attempt at a test reading: waits as long as it asked for, then announces an asked delay.
   * @throws NotDueYet, ClockUntrusted
   */
  async beforeAttempt(job: ReadingJob): Promise<void> {
    const { readingId, workspaceId } = job;
    const { state } = await this.executor.load(readingId);
    if (state.status !== 'queued' || state.request.livemode) return;
    const outcome = await this.askedBy(readingId, state.request.sealedInput);
    if (outcome?.kind !== 'waiting') return;
    const at = await this.clock.now();
    const acceptedAt = await requestedAt(this.store, readingId);
    const remainingMs = acceptedAt === null ? 0 : acceptedAt + outcome.forMs - at;
    if (remainingMs > 0) throw new NotDueYet(remainingMs);
    if (!outcome.announced) return;
    const by = causedBy(job, 'readings.timer');
    await this.executor.execute(
      readingId,
      { type: 'DelayReading' },
      { intent: 'delay', by, workspaceId, at },
    );
  }

  private async askedBy(readingId: string, sealedInput: string): Promise<TestOutcome | null> {
    const key = await this.keys.find(readingId);
    return key && askedOutcome(openInput(key, sealedInput).metadata);
  }
}
