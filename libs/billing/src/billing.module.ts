import { Module } from '@nestjs/common';
import type { Projection } from '@app/event-sourcing/projections/projection.js';
import { CreditBooks } from './application/credit-books.js';
import { HANDLERS } from './application/handlers.js';
import { balanceProjection } from './read-models/balance/balance.projection.js';
import { holdProjection } from './read-models/hold/hold.projection.js';

/** The credit ledger: answers its commands and queries on the buses. */
@Module({ providers: [CreditBooks, ...HANDLERS], exports: [CreditBooks] })
export class BillingModule {
  /** For the worker, which keeps them, and the operator, who may have them built again. */
  static readonly projections: readonly Projection[] = [balanceProjection, holdProjection];
}
