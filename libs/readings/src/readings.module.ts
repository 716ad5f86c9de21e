import { Module } from '@nestjs/common';
import { EVENT_STORE } from '#event-sourcing/store/event-store.js';
import { AbandonReadingHandler } from './application/abandon-reading/abandon-reading.handler.js';
import { EraseReadingHandler } from './application/erase-reading/erase-reading.handler.js';
import { RequestBatchHandler } from './application/request-batch/request-batch.handler.js';
import { PrepareTrialReadingHandler } from './application/prepare-trial-reading/prepare-trial-reading.handler.js';
import { RequestReadingHandler } from './application/request-reading/request-reading.handler.js';
import { BATCH_EXECUTOR, createBatchExecutor } from './batch.executor.js';
import { READING_EXECUTOR, createReadingExecutor } from './reading.executor.js';
import { CountReadingsHandler } from './read-models/reading/count-readings.handler.js';
import {
  AsksForRefusalHandler,
  GetExternalIdHandler,
  GetPublicationTimeHandler,
  GetReadingResultHandler,
  GetReadingSummaryHandler,
} from './read-models/reading/reading.handlers.js';
import { LookAtTestReadingsHandler } from './read-models/reading/kept-test-readings.handler.js';
import { FindOpenBatchesHandler } from './read-models/batch/find-open-batches.handler.js';
import { BatchQuery } from './read-models/batch/batch.query.js';
import { ReadingQuery } from './read-models/reading/reading.query.js';

/** Other modules must handle its ports (contracts/ports) on the buses. */
@Module({
  providers: [
    { provide: READING_EXECUTOR, useFactory: createReadingExecutor, inject: [EVENT_STORE] },
    { provide: BATCH_EXECUTOR, useFactory: createBatchExecutor, inject: [EVENT_STORE] },
    ReadingQuery,
    BatchQuery,
    RequestReadingHandler,
    RequestBatchHandler,
    PrepareTrialReadingHandler,
    AbandonReadingHandler,
    EraseReadingHandler,
    GetReadingSummaryHandler,
    GetReadingResultHandler,
    GetExternalIdHandler,
    GetPublicationTimeHandler,
    AsksForRefusalHandler,
    FindOpenBatchesHandler,
    CountReadingsHandler,
    LookAtTestReadingsHandler,
  ],
  exports: [READING_EXECUTOR, BATCH_EXECUTOR, ReadingQuery, BatchQuery],
})
export class ReadingsModule {}
