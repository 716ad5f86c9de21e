import { Inject, Injectable } from '@nestjs/common';
import { randomUUID } from 'node:crypto';
import type { Logger } from 'pino';
import { instant, type TrustedClock } from '#event-sourcing/core/clock.js';
import { causedBy } from '#event-sourcing/core/request-context.js';
import type { CommandContext } from '#event-sourcing/commands/prepare-event.js';
import { inSpan } from '#event-sourcing/tracing/tracing.js';
import { isDependencyAway } from '#event-sourcing/store/errors.js';
import { calculateTheme, canonicalGender, toResult, type Locale } from '#numerology/index.js';
import { isNotQueued } from '#platform/jobs/rescue.js';
import { SubjectKeys, type SubjectKey } from '#platform/crypto/subject-keys.js';
import { SealBroken } from '#platform/crypto/sealing.js';
import { CONFIG, LOGGER, TRUSTED_CLOCK } from '#platform/tokens.js';
import type { FailureCode } from '../../contracts/events.js';
import type { DocumentPublisher } from '../../contracts/ports/index.js';
import type { ReadingJob } from '../../contracts/reading-job.js';
import type { ReadingInput } from '../../domain/reading/reading-view.js';
import type { Requested } from '../../domain/reading/reading.state.js';
import { askedOutcome } from '../../domain/test-outcome/test-outcome.js';
import { TestOutcomes } from '../test-outcome/test-outcomes.js';
import { GENERATE_READING } from '../../processes/generation.process.js';
import { READING_EXECUTOR, type ReadingExecutor } from '../../reading.executor.js';
import { openInput, sealResult } from '../../sealed-reading.js';
import type { Config } from '../../settings.js';

/** The input was accepted but cannot be calculated. A retry would not help. */
export class InputUnprocessable extends Error {
  override readonly name = 'InputUnprocessable';
}

export interface CalculationRequest {
  readonly readingId: string;
  readonly locale: Locale;
  readonly asOf: string;
  readonly input: ReadingInput;
}

/** Calculates the exact bytes of `/result` from an input. @throws InputUnprocessable */
export type ThemeCalculator = (request: CalculationRequest) => Buffer;
export const THEME_CALCULATOR = Symbol('ThemeCalculator');

/** A test reading asked to fail so. */
class AskedFailure extends Error {
  override readonly name = 'AskedFailure';
  constructor(readonly code: FailureCode) {
    super(code);
  }
}

/** SQL: unfinished readings whose lease or waiting time has expired without a job, the longest overdue first; at most $1. */
export const OVERDUE_READINGS = `
  select reading_id, workspace_id, livemode, correlation_id from readings.reading
  where due_at < now() and ${isNotQueued(`'${GENERATE_READING.task}:' || reading_id`)}
  order by due_at limit $1`;

/** Attempts at a reading before it fails. */
const ATTEMPTS = 5;
/** The pause before the second attempt (ms); doubles each time. */
const RETRY_MS = 2_000;

/**
 * One attempt at a reading. The job only wakes a worker; the stream is the lock. Only the worker whose `ReadingStarted`
 * is appended continues, and only until its lease expires.
 */
@Injectable()
export class GenerateReadingJob {
  private readonly workerId = `worker-${randomUUID()}`;

  constructor(
    @Inject(READING_EXECUTOR) private readonly executor: ReadingExecutor,
    @Inject(THEME_CALCULATOR) private readonly calculate: ThemeCalculator,
    @Inject(TRUSTED_CLOCK) private readonly clock: TrustedClock,
    @Inject(CONFIG) private readonly config: Pick<Config, 'READING_LEASE_MS'>,
    @Inject(LOGGER) private readonly log: Logger,
    private readonly keys: SubjectKeys,
    private readonly testOutcomes: TestOutcomes,
  ) {}

  /** @throws NotDueYet when a test reading asked for a later start; KeysUnavailable before an attempt begins */
  async run(job: ReadingJob): Promise<void> {
    if (job.mode === 'test') await this.testOutcomes.beforeAttempt(job);
    // First, so that a worker without the key leaves the attempt to one that has it.
    const key = await this.keys.find(job.readingId);
    const intent = `start:${randomUUID()}`;
    const now = await this.clock.now();
    const started = await this.executor.execute(
      job.readingId,
      {
        type: 'StartAttempt',
        workerId: this.workerId,
        now: instant(now),
        leaseUntil: instant(now + this.config.READING_LEASE_MS),
      },
      contextOf(job, intent, now),
    );
    if (started.kind !== 'accepted' || started.state.status === 'none') return;
    const attempt = started.state.attempts;
    try {
      const { state } = started;
      const sealedResult = await inSpan('generate the result', {}, () => this.result(job, key, state));
      await this.complete(job, attempt, sealedResult);
      this.log.info({ readingId: job.readingId, requestId: job.correlationId, attempt }, 'reading completed');
    } catch (error) {
      // Not the reading's fault: the job is retried, and takes over once this lease has expired.
      if (isDependencyAway(error)) throw error;
      const isAsked = error instanceof AskedFailure;
      const code = isAsked ? error.code : failureCode(error);
      // The error's own message is not recorded: it might repeat the input.
      this.log.warn(
        {
          readingId: job.readingId,
          requestId: job.correlationId,
          attempt,
          code,
          kind: (error as Error).name,
        },
        'an attempt failed',
      );
      await this.fail(job, attempt, code, isAsked ? attempt : ATTEMPTS);
    }
  }

  private async result(job: ReadingJob, key: SubjectKey | null, { request }: Requested): Promise<string> {
    if (!key) throw new InputUnprocessable('The key of this reading was destroyed');
    const input = openInput(key, request.sealedInput);
    const asked = request.livemode ? null : askedOutcome(input.metadata);
    if (asked?.kind === 'failed') throw new AskedFailure(asked.code);
    const bytes = this.calculate({
      readingId: job.readingId,
      locale: request.locale,
      asOf: request.asOf,
      input,
    });
    return sealResult(key, bytes);
  }

  private async complete(job: ReadingJob, attempt: number, sealedResult: string): Promise<void> {
    await this.executor.execute(
      job.readingId,
      { type: 'CompleteReading', attempt, sealedResult },
      contextOf(job, `complete:${attempt}`, await this.clock.now()),
    );
  }

  private async fail(
    job: ReadingJob,
    attempt: number,
    code: FailureCode,
    attemptsAllowed: number,
  ): Promise<void> {
    const now = await this.clock.now();
    await this.executor.execute(
      job.readingId,
      {
        type: 'FailAttempt',
        attempt,
        code,
        attemptsAllowed,
        retryAt: instant(now + RETRY_MS * 2 ** (attempt - 1)),
      },
      contextOf(job, `fail:${attempt}`, now),
    );
  }
}

const contextOf = (job: ReadingJob, intent: string, at: number): CommandContext => ({
  intent,
  by: causedBy(job, 'readings.generation'),
  workspaceId: job.workspaceId,
  at,
});

const failureCode = (error: unknown): FailureCode =>
  error instanceof InputUnprocessable || error instanceof SealBroken
    ? 'input_unprocessable'
    : 'generation_failed';

/** @param publisher what a result says about its documents */
export const themeCalculator =
  ({ contentVersion, formats }: Pick<DocumentPublisher, 'contentVersion' | 'formats'>): ThemeCalculator =>
  ({ readingId, locale, asOf, input }) => {
    const subjectGender = canonicalGender(input.grammaticalProfile.subjectGender);
    if (subjectGender === null)
      throw new InputUnprocessable('The grammatical gender is not one of the allowed values');
    const theme = calculateTheme({ name: input.name, dateOfBirth: input.dateOfBirth, subjectGender }, asOf);
    return Buffer.from(JSON.stringify(toResult(theme, { readingId, locale, contentVersion, formats })));
  };
