import { Inject, Module, type DynamicModule, type OnModuleInit } from '@nestjs/common';
import type { Pool } from 'pg';
import type { Logger } from 'pino';
import { processConsumer } from '#event-sourcing/processes/process.js';
import { projectionConsumer } from '#event-sourcing/projections/projection.js';
import { handleJobs } from '#platform/jobs/job.js';
import { rescueOverdue } from '#platform/jobs/rescue.js';
import { upkeepEveryMs } from '#platform/crypto/epochs/key-upkeep.js';
import { POSTGRES } from '#platform/postgres/pool.js';
import { CONFIG, LOGGER } from '#platform/tokens.js';
import { repeatedWork } from '#platform/work/repeated-work.js';
import { WorkRegistry } from '#platform/work/work-registry.js';
import {
  GenerateReadingJob,
  OVERDUE_READINGS,
  THEME_CALCULATOR,
  themeCalculator,
} from './application/generate-reading/generate-reading.job.js';
import {
  END_BATCH,
  EndBatchJob,
  UNWATCHED_BATCHES,
  endBatchJobAgain,
} from './application/end-batch/end-batch.job.js';
import { ReadingTimers, lostTimeOuts } from './application/reading-timers.js';
import { readingJobAgain } from './contracts/reading-job.js';
import { DOCUMENT_PUBLISHER, type DocumentPublisher } from './contracts/ports/index.js';
import {
  DELAY_READING,
  GENERATE_READING,
  TIME_OUT_READING,
  generationProcess,
} from './processes/generation.process.js';
import { TestOutcomes } from './application/test-outcome/test-outcomes.js';
import { KeySweep } from './application/sweep-keys/key-sweep.js';
import { TestReadingSweep } from './application/sweep-test-readings/test-reading-sweep.js';
import { ReadingsModule } from './readings.module.js';
import { readingsProjections } from './projections.js';
import { ReadingMetrics } from './telemetry/reading-metrics.js';
import type { Config } from './settings.js';

@Module({
  imports: [ReadingsModule],
  providers: [
    GenerateReadingJob,
    TestOutcomes,
    ReadingTimers,
    EndBatchJob,
    KeySweep,
    TestReadingSweep,
    ReadingMetrics,
    { provide: THEME_CALCULATOR, useFactory: themeCalculator, inject: [DOCUMENT_PUBLISHER] },
  ],
})
export class ReadingsWorkerModule implements OnModuleInit {
  static publishedBy(publisher: DocumentPublisher): DynamicModule {
    return {
      module: ReadingsWorkerModule,
      providers: [{ provide: DOCUMENT_PUBLISHER, useValue: publisher }],
    };
  }

  constructor(
    private readonly work: WorkRegistry,
    private readonly generate: GenerateReadingJob,
    private readonly timers: ReadingTimers,
    private readonly endBatch: EndBatchJob,
    private readonly keySweep: KeySweep,
    private readonly testSweep: TestReadingSweep,
    @Inject(DOCUMENT_PUBLISHER) private readonly publisher: DocumentPublisher,
    @Inject(CONFIG) private readonly config: Config,
    @Inject(POSTGRES) private readonly pool: Pool,
    @Inject(LOGGER) private readonly log: Logger,
  ) {}

  onModuleInit(): void {
    const { READING_DELAYED_AFTER_MS, READING_TIMEOUT_MS } = this.config;
    const everyMs = upkeepEveryMs(this.config);
    const process = generationProcess({
      delayedAfterMs: READING_DELAYED_AFTER_MS,
      timeoutMs: READING_TIMEOUT_MS,
    });
    for (const one of readingsProjections(this.publisher.feed))
      this.work.addConsumer(projectionConsumer(one));
    this.work.addConsumer(processConsumer(process, () => Promise.resolve()));
    this.work.addJob(handleJobs(GENERATE_READING, (job) => this.generate.run(job)));
    this.work.addJob(handleJobs(DELAY_READING, (job) => this.timers.delay(job)));
    this.work.addJob(handleJobs(TIME_OUT_READING, (job) => this.timers.timeOut(job)));
    this.work.addJob(handleJobs(END_BATCH, (job) => this.endBatch.run(job)));
    this.work.addLoop(
      rescueOverdue(
        this.pool,
        { kind: GENERATE_READING, overdue: OVERDUE_READINGS, jobOf: readingJobAgain(GENERATE_READING) },
        this.log,
      ),
    );
    this.work.addLoop(
      rescueOverdue(
        this.pool,
        {
          kind: TIME_OUT_READING,
          overdue: lostTimeOuts(READING_TIMEOUT_MS),
          jobOf: readingJobAgain(TIME_OUT_READING),
        },
        this.log,
      ),
    );
    this.work.addLoop(
      rescueOverdue(
        this.pool,
        { kind: END_BATCH, overdue: UNWATCHED_BATCHES, jobOf: endBatchJobAgain },
        this.log,
      ),
    );
    this.work.addLoop(
      repeatedWork('readings.key-sweep', everyMs, (signal) => this.keySweep.sweep(signal), this.log),
    );
    this.work.addLoop(
      repeatedWork('readings.test-sweep', everyMs, (signal) => this.testSweep.sweep(signal), this.log),
    );
  }
}
