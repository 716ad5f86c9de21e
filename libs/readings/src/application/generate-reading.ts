import { selectEvents } from '#event-sourcing/core/event-catalogue.js';
import { streamId, streamName } from '#event-sourcing/core/stream-name.js';
import { defineProcess, statement, type Reaction } from '#event-sourcing/processes/process.js';
import { instant, type TrustedClock } from '#event-sourcing/core/clock.js';
import { addJob, removeJob } from '#platform/jobs/job.js';
import {
  readingJobAfter,
  readingJobKey,
  readingJobKind,
  readingJobPriority,
  readingTurn,
  type ReadingJobKind,
  type ReadingJob,
} from '../contracts/reading-job.js';
import { addEndBatchJob } from './end-batch.js';
import { batchEvents, readingEvents, type FailureCode } from '../contracts/events.js';
import { Inject, Injectable } from '@nestjs/common';
import { randomUUID } from 'node:crypto';
import type { Logger } from 'pino';
import { causedBy } from '#event-sourcing/core/request-context.js';
import type { CommandContext } from '#event-sourcing/commands/command-executor.js';
import { isDependencyAway } from '#event-sourcing/store/errors.js';
import { EVENT_STORE, type EventStore } from '#event-sourcing/store/event-store.js';
import { inSpan } from '#event-sourcing/tracing/tracing.js';
import { calculateTheme, canonicalGender, type Locale, toResult } from '#numerology/index.js';
import { SealBroken } from '#platform/crypto/sealing.js';
import { isNotQueued, isNotRunning } from '#platform/jobs/rescue.js';
import { type SubjectKey, SubjectKeys } from '#platform/crypto/subject-keys.js';
import { NotDueYet } from '#platform/jobs/not-due-yet.js';
import { CONFIG, LOGGER, TRUSTED_CLOCK } from '#platform/tokens.js';
import type { DocumentPublisher } from '../contracts/ports.js';
import type { ReadingInput } from '../domain/reading-input.js';
import type { ReadingCommand, Requested } from '../domain/reading.decider.js';
import { askedOutcome } from '../domain/test-outcome.js';
import { READING_EXECUTOR, type ReadingExecutor } from '../executors.js';
import { openInput, sealResult } from '../sealed-reading.js';
import type { Config } from '../settings.js';

export const GENERATION = 'readings.generation.v1';
export const GENERATE_READING = readingJobKind('readings.generate', 2);
export const DELAY_READING = readingJobKind('readings.delay');
export const TIME_OUT_READING = readingJobKind('readings.time-out');

/** @param delayedAfterMs, timeoutMs milliseconds after acceptance */
export const generationProcess = (bounds: { delayedAfterMs: number; timeoutMs: number }) =>
  defineProcess({
    name: GENERATION,
    catalogues: [
      selectEvents(
        readingEvents,
        'ReadingRequested',
        'ReadingAttemptFailed',
        'ReadingCompleted',
        'ReadingFailed',
      ),
      selectEvents(batchEvents, 'BatchRequested'),
    ],
    react: (event) => {
      if (event.type === 'BatchRequested') return [statement(addEndBatchJob(event))];
      const readingId = streamId(event.stream);
      const payload = readingJobAfter(event);
      const timer = (kind: ReadingJobKind, runAt: string): Reaction<never> =>
        statement(addJob(kind, payload, { key: readingJobKey(kind, readingId), runAt }));
      const key = readingJobKey(GENERATE_READING, readingId);
      switch (event.type) {
        case 'ReadingRequested': {
          const acceptedAt = Date.parse(event.metadata.occurredAt);
          return [
            statement(
              addJob(GENERATE_READING, payload, {
                key,
                priority: readingJobPriority(GENERATE_READING, payload),
                turn: readingTurn(GENERATE_READING, event),
              }),
            ),
            timer(DELAY_READING, instant(acceptedAt + bounds.delayedAfterMs)),
            timer(TIME_OUT_READING, instant(acceptedAt + bounds.timeoutMs)),
          ];
        }
        case 'ReadingAttemptFailed':
          // It has had its turn: nobody who came later goes before it.
          return [
            statement(
              addJob(GENERATE_READING, payload, {
                key,
                priority: readingJobPriority({ priority: 0 }, payload),
                runAt: event.data.retryAt,
              }),
            ),
          ];
        case 'ReadingCompleted':
        case 'ReadingFailed':
          return [DELAY_READING, TIME_OUT_READING].map((kind) =>
            statement(removeJob(readingJobKey(kind, readingId))),
          );
      }
    },
  });

/** A time-out that is later than this was lost with its job queue (seconds). */
const LOST_AFTER_SECONDS = 30;

/**
 * SQL: unfinished readings whose time is over and that no job will soon time out, the oldest first; at most $1. The queue
 * may have lost the jobs: its tables were dropped, or restored from a backup. A killed worker keeps its job locked for
 * hours, and one that failed often waits as long. A time-out takes much less than 15 seconds; two at once do no harm.
 */
export const lostTimeOuts = (timeoutMs: number): string => `
  select reading_id, workspace_id, correlation_id from readings.reading
  where due_at is not null and created_at < now() - make_interval(secs => ${timeoutMs / 1_000 + LOST_AFTER_SECONDS})
    and ${isNotQueued(`'${TIME_OUT_READING.task}:' || reading_id`)}
    and ${isNotRunning(`'${TIME_OUT_READING.task}:' || reading_id`, '15 seconds')}
  order by created_at limit $1`;

/**
 * What a reading's durable timers do when they fire. A reading that has ended does not change.
 *
 * The queue fires by PostgreSQL's clock, which may have been wrong. So the elapsed time is measured again: from the time
 * at which the store recorded the request to this process's trusted time.
 */
@Injectable()
export class ReadingTimers {
  constructor(
    @Inject(READING_EXECUTOR) private readonly executor: ReadingExecutor,
    @Inject(TRUSTED_CLOCK) private readonly clock: TrustedClock,
    @Inject(EVENT_STORE) private readonly store: Pick<EventStore, 'read'>,
    @Inject(CONFIG) private readonly config: Pick<Config, 'READING_DELAYED_AFTER_MS' | 'READING_TIMEOUT_MS'>,
  ) {}

  /** @throws NotDueYet, ClockUntrusted */
  delay(job: ReadingJob): Promise<void> {
    return this.after(this.config.READING_DELAYED_AFTER_MS, job, 'delay', { type: 'DelayReading' });
  }

  /** @throws NotDueYet, ClockUntrusted */
  timeOut(job: ReadingJob): Promise<void> {
    return this.after(this.config.READING_TIMEOUT_MS, job, 'time-out', { type: 'TimeOutReading' });
  }

  /** @param afterMs since the request was recorded @param command `null`: only waits @throws NotDueYet, ClockUntrusted */
  async after(
    afterMs: number,
    job: ReadingJob,
    intent: string,
    command: ReadingCommand | null,
  ): Promise<void> {
    const { readingId, workspaceId } = job;
    const at = await this.clock.now();
    const remainingMs = (await this.requestedAt(readingId)) + afterMs - at;
    if (remainingMs > 0) throw new NotDueYet(remainingMs);
    const by = causedBy(job, 'readings.timer');
    if (command) await this.executor.execute(readingId, command, { intent, by, workspaceId, at });
  }

  /** When the store recorded the request; long ago when the events of the reading were truncated. */
  private async requestedAt(readingId: string): Promise<number> {
    for await (const event of this.store.read(streamName(readingEvents.category, readingId))) {
      if (event.type === 'ReadingRequested') return event.recordedAt ?? Date.parse(event.metadata.occurredAt);
    }
    return -Infinity;
  }
}

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
    private readonly timers: ReadingTimers,
  ) {}

  /** @throws NotDueYet when a test reading asked for a later start; KeysUnavailable before an attempt begins */
  async run(job: ReadingJob): Promise<void> {
    if (job.mode === 'test') await this.waitAsAsked(job);
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
      await this.executor.execute(
        job.readingId,
        { type: 'CompleteReading', attempt, sealedResult },
        contextOf(job, `complete:${attempt}`, await this.clock.now()),
      );
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
      const failedAt = await this.clock.now();
      const retryAt = instant(failedAt + RETRY_MS * 2 ** (attempt - 1));
      const attemptsAllowed = isAsked ? attempt : ATTEMPTS;
      await this.executor.execute(
        job.readingId,
        { type: 'FailAttempt', attempt, code, attemptsAllowed, retryAt },
        contextOf(job, `fail:${attempt}`, failedAt),
      );
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

  /**
   * Before an attempt at a test reading: waits as long as it asked for, then announces an asked delay. The wait is a time in
   * the job queue, so it survives the worker.
   * @throws NotDueYet, ClockUntrusted
   */
  private async waitAsAsked(job: ReadingJob): Promise<void> {
    const { state } = await this.executor.load(job.readingId);
    if (state.status !== 'queued' || state.request.livemode) return;
    const key = await this.keys.find(job.readingId);
    const outcome = key && askedOutcome(openInput(key, state.request.sealedInput).metadata);
    if (outcome?.kind !== 'waiting') return;
    const delay = outcome.announced ? ({ type: 'DelayReading' } as const) : null;
    await this.timers.after(outcome.forMs, job, 'delay', delay);
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
