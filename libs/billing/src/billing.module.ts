import { Module } from '@nestjs/common';
import { CreditBooks } from './application/credit-books.js';
import { HANDLERS } from './application/handlers.js';

/** The credit ledger: answers its commands and queries on the buses. */
@Module({ providers: [CreditBooks, ...HANDLERS], exports: [CreditBooks] })
export class BillingModule {}
