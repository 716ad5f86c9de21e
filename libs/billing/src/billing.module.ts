import { Module } from '@nestjs/common';
import { EVENT_STORE, type EventStore } from '#event-sourcing/store/event-store.js';
import { CONFIG } from '#platform/tokens.js';
import {
  BalanceAsOfHandler,
  ExportLedgerHandler,
  MonthlyStatementHandler,
  MonthMovementsHandler,
  StreamMonthMovementsHandler,
  TypesetCustomerStatementHandler,
  GetLedgerHandler,
} from './application/statements.js';
import { ExplainReadingHandler } from './application/explain-reading.js';
import { FindEntriesHandler } from './application/find-entries.js';
import { ReconcileLedgerHandler } from './application/reconcile-ledger.js';
import { VerifyLedgerHandler } from './application/verify-ledger.js';
import { CloseMonthHandler } from './application/close-month.js';
import {
  CancelSubscriptionHandler,
  GetSubscriptionHandler,
  SubscribeToPlanHandler,
} from './application/subscriptions.js';
import { GetOpenHoldsHandler } from './application/holds.js';
import {
  FindReversibleHandler,
  FindCorrectionsHandler,
  RecordCorrectionHandler,
  CorrectionBooks,
} from './application/corrections.js';
import {
  FindExpiringGrantsHandler,
  FindLowBalancesHandler,
  GetBalanceHandler,
  GetCreditsHandler,
} from './application/get-credits.js';
import { OpenBookHandler, CreditBooks, TestBooks } from './application/credit-books.js';
import { PurchasePackHandler } from './application/purchase-pack.js';
import {
  ReserveManyHandler,
  ReserveCreditsHandler,
  SettleReservationHandler,
} from './application/reservations.js';
import {
  CREDITS_EXECUTOR,
  createCreditsExecutor,
  createTestBookExecutor,
  TEST_BOOK_EXECUTOR,
  CORRECTION_EXECUTORS,
  createCorrectionExecutors,
} from './executors.js';
import type { Config } from './settings.js';

const HANDLERS = [
  BalanceAsOfHandler,
  CancelSubscriptionHandler,
  CloseMonthHandler,
  ExplainReadingHandler,
  ExportLedgerHandler,
  FindEntriesHandler,
  FindExpiringGrantsHandler,
  FindLowBalancesHandler,
  FindReversibleHandler,
  GetBalanceHandler,
  GetCreditsHandler,
  GetLedgerHandler,
  GetOpenHoldsHandler,
  GetSubscriptionHandler,
  FindCorrectionsHandler,
  MonthlyStatementHandler,
  MonthMovementsHandler,
  StreamMonthMovementsHandler,
  OpenBookHandler,
  PurchasePackHandler,
  RecordCorrectionHandler,
  ReconcileLedgerHandler,
  ReserveCreditsHandler,
  ReserveManyHandler,
  SettleReservationHandler,
  SubscribeToPlanHandler,
  TypesetCustomerStatementHandler,
  VerifyLedgerHandler,
];

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
    TestBooks,
    ...HANDLERS,
  ],
  exports: [CorrectionBooks, CreditBooks],
})
export class BillingModule {}
