import { Module } from '@nestjs/common';
import { EVENT_STORE, type EventStore } from '#event-sourcing/store/event-store.js';
import { CONFIG } from '#platform/tokens.js';
import { CloseMonthHandler } from './application/close-month.js';
import { CorrectionBooks, correctionHandlers } from './application/corrections.js';
import { OpenBookHandler, CreditBooks, TestBooks } from './application/credit-books.js';
import { ExplainReadingHandler } from './application/explain-reading.js';
import { FindEntriesHandler } from './application/find-entries.js';
import { creditsHandlers } from './application/get-credits.js';
import { GetOpenHoldsHandler } from './application/upkeep.js';
import { PurchasePackHandler, subscriptionHandlers } from './application/sales.js';
import { ReconcileLedgerHandler, VerifyLedgerHandler } from './application/audits.js';
import { ReserveCreditsHandler } from './application/reservations.js';
import { statementHandlers } from './application/statements.js';
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
      useFactory: (store: EventStore, { CLOCK_REFUSE_MS }: Config) =>
        createCreditsExecutor(store, CLOCK_REFUSE_MS),
      inject: [EVENT_STORE, CONFIG],
    },
    {
      provide: TEST_BOOK_EXECUTOR,
      useFactory: (store: EventStore, { CLOCK_REFUSE_MS }: Config) =>
        createTestBookExecutor(store, CLOCK_REFUSE_MS),
      inject: [EVENT_STORE, CONFIG],
    },
    { provide: CORRECTION_EXECUTORS, useFactory: createCorrectionExecutors, inject: [EVENT_STORE] },
    CreditBooks,
    CorrectionBooks,
    TestBooks,
    CloseMonthHandler,
    ExplainReadingHandler,
    FindEntriesHandler,
    GetOpenHoldsHandler,
    OpenBookHandler,
    PurchasePackHandler,
    ReconcileLedgerHandler,
    VerifyLedgerHandler,
    ...correctionHandlers,
    ...creditsHandlers,
    ReserveCreditsHandler,
    ...statementHandlers,
    ...subscriptionHandlers,
  ],
  exports: [CorrectionBooks, CreditBooks, TestBooks],
})
export class BillingModule {}
