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
  lostTimeOuts,
  OVERDUE_READINGS,
  ReadingTimers,
  THEME_CALCULATOR,
  themeCalculator,
  DELAY_READING,
  GENERATE_READING,
  TIME_OUT_READING,
  generationProcess,
} from './application/generate-reading.js';
import { END_BATCH, EndBatchJob, UNWATCHED_BATCHES, endBatchJobAgain } from './application/end-batch.js';
import { readingJobAgain, type ReadingJobKind } from './contracts/reading-job.js';
import { DOCUMENT_PUBLISHER, type DocumentPublisher } from './contracts/ports.js';
import { KEYS_SWEPT_EVERY_MS, KeySweep } from './application/sweep-keys.js';
import { TestReadingSweep } from './application/erase-reading.js';
import { ReadingsModule } from './readings.module.js';
import { readingsProjections } from './projections.js';
import { ReadingMetrics } from './reading-metrics.js';
import type { Config } from './settings.js';

@Module({
  imports: [ReadingsModule],
  providers: [
    GenerateReadingJob,
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
    const { work, pool, log } = this;
    for (const one of readingsProjections(this.publisher.feed)) work.addConsumer(projectionConsumer(one));
    const bounds = { delayedAfterMs: READING_DELAYED_AFTER_MS, timeoutMs: READING_TIMEOUT_MS };
    work.addConsumer(processConsumer(generationProcess(bounds), () => Promise.resolve()));
    work.addJob(handleJobs(GENERATE_READING, (job) => this.generate.run(job)));
    work.addJob(handleJobs(DELAY_READING, (job) => this.timers.delay(job)));
    work.addJob(handleJobs(TIME_OUT_READING, (job) => this.timers.timeOut(job)));
    work.addJob(handleJobs(END_BATCH, (job) => this.endBatch.run(job)));
    const overdueReadings = (kind: ReadingJobKind, overdue: string) =>
      rescueOverdue(pool, { kind, overdue, jobOf: readingJobAgain(kind) }, log);
    work.addLoop(overdueReadings(GENERATE_READING, OVERDUE_READINGS));
    work.addLoop(overdueReadings(TIME_OUT_READING, lostTimeOuts(READING_TIMEOUT_MS)));
    work.addLoop(
      rescueOverdue(pool, { kind: END_BATCH, overdue: UNWATCHED_BATCHES, jobOf: endBatchJobAgain }, log),
    );
    work.addLoop(
      repeatedWork('readings.key-sweep', KEYS_SWEPT_EVERY_MS, (signal) => this.keySweep.sweep(signal), log),
    );
    work.addLoop(repeatedWork('readings.test-sweep', everyMs, (signal) => this.testSweep.sweep(signal), log));
  }
}
