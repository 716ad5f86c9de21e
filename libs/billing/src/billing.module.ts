import { Module } from '@nestjs/common';
import { EVENT_STORE, type EventStore } from '#event-sourcing/store/event-store.js';
import { CONFIG } from '#platform/tokens.js';
import { CreditBooks } from './application/credit-books.js';
import { CorrectionBooks } from './application/corrections.js';
import { HANDLERS } from './application/handlers.js';
import { OrderLines } from './application/purchase-pack/order-lines.js';
import { TestBooks } from './application/test-books.js';
import {
  CREDITS_EXECUTOR,
  createCreditsExecutor,
  createTestBookExecutor,
  TEST_BOOK_EXECUTOR,
  CORRECTION_EXECUTORS,
  createCorrectionExecutors,
} from './executors.js';
import type { Config } from './settings.js';

/** The credit ledger: handles its commands and queries on the buses. */
@Module({
  providers: [
    {
      provide: CREDITS_EXECUTOR,
      useFactory: (store: EventStore, config: Pick<Config, 'CLOCK_REFUSE_MS'>) =>
        createCreditsExecutor(store, config.CLOCK_REFUSE_MS),
      inject: [EVENT_STORE, CONFIG],
    },
    {
      provide: TEST_BOOK_EXECUTOR,
      useFactory: (store: EventStore, config: Pick<Config, 'CLOCK_REFUSE_MS'>) =>
        createTestBookExecutor(store, config.CLOCK_REFUSE_MS),
      inject: [EVENT_STORE, CONFIG],
    },
    {
      provide: CORRECTION_EXECUTORS,
      useFactory: createCorrectionExecutors,
      inject: [EVENT_STORE],
    },
    CreditBooks,
    CorrectionBooks,
    OrderLines,
    TestBooks,
    ...HANDLERS,
  ],
  exports: [CorrectionBooks, CreditBooks],
})
export class BillingModule {}
