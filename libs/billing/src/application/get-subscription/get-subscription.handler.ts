import { Inject } from '@nestjs/common';
import { QueryHandler, type IQueryHandler } from '@nestjs/cqrs';
import type { Clock } from '#event-sourcing/core/clock.js';
import { CLOCK } from '#platform/tokens.js';
import type { SubscriptionSummary } from '../../contracts/commands.js';
import { GetSubscription } from '../../contracts/queries.js';
import { currentSubscription } from '../../domain/credits/subscriptions.js';
import { CreditBooks } from '../credit-books.js';
import { subscriptionSummary } from './subscription-summary.js';

@QueryHandler(GetSubscription)
export class GetSubscriptionHandler implements IQueryHandler<GetSubscription> {
  constructor(
    private readonly books: CreditBooks,
    @Inject(CLOCK) private readonly clock: Clock,
  ) {}

  async execute({ workspaceId }: GetSubscription): Promise<SubscriptionSummary | null> {
    const book = await this.books.current(workspaceId);
    const current = book && currentSubscription(book, this.clock.now());
    return current && subscriptionSummary(current);
  }
}
