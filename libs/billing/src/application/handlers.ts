import { BalanceAsOfHandler } from './audit/balance-as-of.handler.js';
import { ExplainReadingHandler } from './audit/explain-reading.handler.js';
import { ExportLedgerHandler } from './audit/export-ledger.handler.js';
import { FindEntriesHandler } from './audit/find-entries.handler.js';
import { MonthlyStatementHandler } from './audit/monthly-statement.handler.js';
import { MonthMovementsHandler, StreamMonthMovementsHandler } from './audit/month-movements.handler.js';
import { ReconcileLedgerHandler } from './audit/reconcile-ledger.handler.js';
import { SealPeriodHandler } from './audit/seal-period.handler.js';
import { TypesetCustomerStatementHandler } from './audit/typeset-customer-statement.handler.js';
import { TypesetStatementHandler } from './audit/typeset-statement.handler.js';
import { VerifyLedgerHandler } from './audit/verify-ledger.handler.js';
import { CloseMonthHandler } from './close-month/close-month.handler.js';
import { CancelSubscriptionHandler } from './cancel-subscription/cancel-subscription.handler.js';
import { CheckHoldsHandler } from './check-holds/check-holds.handler.js';
import { FindReversibleHandler, FindCorrectionsHandler, RecordCorrectionHandler } from './corrections.js';
import {
  FindExpiringGrantsHandler,
  FindLowBalancesHandler,
} from './find-scarce-credits/find-scarce-credits.handlers.js';
import { GetBalanceHandler } from './get-balance/get-balance.handler.js';
import { GetCreditsHandler } from './get-credits/get-credits.handler.js';
import { GetLedgerHandler } from './get-ledger/get-ledger.handler.js';
import { GetOpenHoldsHandler } from './get-open-holds/get-open-holds.handler.js';
import { GetSubscriptionHandler } from './get-subscription/get-subscription.handler.js';
import { OpenBookHandler } from './open-book/open-book.handler.js';
import { PurchasePackHandler } from './purchase-pack/purchase-pack.handler.js';
import { RecordDueHandler } from './record-due/record-due.handler.js';
import { ReserveManyHandler } from './reserve-credits/reserve-many.handler.js';
import { ReserveCreditsHandler } from './reserve-credits/reserve-credits.handler.js';
import { SettleReservationHandler } from './settle-reservation/settle-reservation.handler.js';
import { SubscribeToPlanHandler } from './subscribe-to-plan/subscribe-to-plan.handler.js';

/** All command and query handlers of this module. */
export const HANDLERS = [
  BalanceAsOfHandler,
  CancelSubscriptionHandler,
  CloseMonthHandler,
  CheckHoldsHandler,
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
  RecordDueHandler,
  ReserveCreditsHandler,
  ReserveManyHandler,
  SealPeriodHandler,
  SettleReservationHandler,
  SubscribeToPlanHandler,
  TypesetCustomerStatementHandler,
  TypesetStatementHandler,
  VerifyLedgerHandler,
];
