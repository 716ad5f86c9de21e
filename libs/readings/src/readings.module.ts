import { Module } from '@nestjs/common';
import { EVENT_STORE } from '#event-sourcing/store/event-store.js';
import {
  AbandonReadingHandler,
  EraseReadingHandler,
  LookAtTestReadingsHandler,
} from './application/erase-reading.js';
import { RequestBatchHandler } from './application/request-batch.js';
import { PrepareTrialReadingHandler, RequestReadingHandler } from './application/request-reading.js';
import { BATCH_EXECUTOR, createBatchExecutor, createReadingExecutor, READING_EXECUTOR } from './executors.js';
import {
  AsksForRefusalHandler,
  CountReadingsHandler,
  GetExternalIdHandler,
  GetPublicationTimeHandler,
  GetReadingResultHandler,
  GetReadingSummaryHandler,
  ReadingQuery,
} from './read-models/reading.query.js';
import { BatchQuery, FindOpenBatchesHandler } from './read-models/batch.query.js';

/** Other modules must handle its ports (contracts/ports.ts) on the buses. */
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
