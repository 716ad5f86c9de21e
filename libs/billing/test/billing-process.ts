import type { EventStore } from '#event-sourcing/store/event-store.js';
import { ReserveCredits } from '#readings/contracts/index.js';
import {
  CancelSubscription,
  GetBalance,
  GetCredits,
  GetLedger,
  OpenBook,
  PurchasePack,
  RecordDue,
  SubscribeToPlan,
} from '../src/contracts/index.js';
import { CancelSubscriptionHandler, SubscribeToPlanHandler } from '../src/application/subscriptions.js';
import { CreditBooks, OpenBookHandler, TestBooks } from '../src/application/credit-books.js';
import {
  createCorrectionExecutors,
  createCreditsExecutor,
  createTestBookExecutor,
} from '../src/executors.js';
import { GetBalanceHandler, GetCreditsHandler } from '../src/application/get-credits.js';
import { GetLedgerHandler } from '../src/application/statements.js';
import { PurchasePackHandler } from '../src/application/purchase-pack.js';
import { RecordDueHandler } from '../src/application/record-due.js';
import {
  ReserveCreditsHandler,
  SettleReservation,
  SettleReservationHandler,
} from '../src/application/reservations.js';
import { adjustment } from './adjustment.js';

export const WS = 'ws_0000000000000000000001';
/** Who gives every command of the process. */
export const BY = { actor: 'apiKey:k1', correlationId: 'correlation', causationId: 'cause' };

/** Books a correction as the book's decider takes it, without the two operators. */
const adjust = (books: CreditBooks, entry: Adjustment) =>
  books.execute(
    WS,
    (now) => ({
      ...adjustment({ ...entry, actor: BY.actor }),
      now,
    }),
    `adjust:${entry.adjustmentId}`,
    BY,
  );
interface Adjustment {
  readonly adjustmentId: string;
  readonly amount: number;
  readonly reason: string;
  readonly approvedBy: string;
}

/** Billing's commands and queries as one process runs them: with its own books, folded in its own memory. */
export const billingProcess = (store: EventStore, clock: { now(): number }) => {
  const books = new CreditBooks(createCreditsExecutor(store, 10_000), clock);
  const testBooks = new TestBooks(createTestBookExecutor(store, 10_000), clock);
  const handlers = {
    open: new OpenBookHandler(books),
    reserve: new ReserveCreditsHandler(books, testBooks),
    settle: new SettleReservationHandler(books, testBooks),
    subscribe: new SubscribeToPlanHandler(books),
    cancel: new CancelSubscriptionHandler(books),
    purchase: new PurchasePackHandler(books, createCorrectionExecutors(store), clock),
    due: new RecordDueHandler(books),
    balance: new GetBalanceHandler(books, testBooks),
    credits: new GetCreditsHandler(books, testBooks),
    ledger: new GetLedgerHandler(store),
  };
  return {
    open: () => handlers.open.execute(new OpenBook(WS, BY)),
    reserve: (id: string, product = 'theme', livemode = true) =>
      handlers.reserve.execute(new ReserveCredits(WS, `reading-${id}`, id, product, livemode, BY)),
    settle: (id: string, how: 'capture' | 'release', livemode = true) =>
      handlers.settle.execute(new SettleReservation(WS, id, livemode, how, `end-of-${id}`, BY)),
    subscribe: (plan: SubscribeToPlan['plan'], approval: string | null = null) =>
      handlers.subscribe.execute(new SubscribeToPlan(WS, plan, approval, BY)),
    cancel: () => handlers.cancel.execute(new CancelSubscription(WS, BY)),
    purchase: (pack: PurchasePack['pack'], order: string) =>
      handlers.purchase.execute(new PurchasePack(WS, pack, order, BY)),
    adjust: (id: string, amount: number, reason = 'goodwill', approver = 'operator:ada') =>
      adjust(books, { adjustmentId: id, amount, reason, approvedBy: approver }),
    due: () => handlers.due.execute(new RecordDue(WS, BY)),
    balance: () => handlers.balance.execute(new GetBalance(WS)),
    credits: (livemode = true) => handlers.credits.execute(new GetCredits(WS, livemode)),
    ledger: () => handlers.ledger.execute(new GetLedger(WS)),
  };
};
