import { Module } from '@nestjs/common';
import type { Projection } from '@app/event-sourcing/projections/projection.js';
import { EVENT_STORE } from '@app/event-sourcing/store/event-store.js';
import { CreditBooks } from './application/credit-books.js';
import { HANDLERS } from './application/handlers.js';
import { CREDITS_EXECUTOR, createCreditsExecutor } from './credits.executor.js';
import { balanceProjection } from './read-models/balance/balance.projection.js';
import { holdProjection } from './read-models/hold/hold.projection.js';

/** The credit ledger: handles its commands and queries on the buses. */
@Module({
  providers: [
    { provide: CREDITS_EXECUTOR, useFactory: createCreditsExecutor, inject: [EVENT_STORE] },
    CreditBooks,
    ...HANDLERS,
  ],
  exports: [CreditBooks],
})
export class BillingModule {
  /** For the worker, which updates them, and for the operator's rebuild command. */
  static readonly projections: readonly Projection[] = [balanceProjection, holdProjection];
}
