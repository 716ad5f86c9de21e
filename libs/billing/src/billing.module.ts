import { EVENT_STORE } from '@app/event-sourcing/store/event-store.js';
import { Module } from '@app/platform/injection.js';
import { CreditBooks } from './application/credit-books.js';
import { HANDLERS } from './application/handlers.js';
import { CREDITS_EXECUTOR, createCreditsExecutor } from './credits.executor.js';

/** The credit ledger: handles its commands and queries on the buses. */
@Module({
  providers: [
    { provide: CREDITS_EXECUTOR, useFactory: createCreditsExecutor, inject: [EVENT_STORE] },
    CreditBooks,
    ...HANDLERS,
  ],
  exports: [CreditBooks],
})
export class BillingModule {}
