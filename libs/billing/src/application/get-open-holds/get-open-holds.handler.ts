import { QueryHandler, type IQueryHandler } from '@nestjs/cqrs';
import { CorruptEvent } from '#event-sourcing/core/event-catalogue.js';
import { GetOpenHolds } from '#readings/contracts/index.js';
import { keysOf } from '../../domain/credits/bucket-map.js';
import { CreditBooks } from '../credit-books.js';
import { TestBooks } from '../test-books.js';

@QueryHandler(GetOpenHolds)
export class GetOpenHoldsHandler implements IQueryHandler<GetOpenHolds> {
  constructor(
    private readonly books: CreditBooks,
    private readonly testBooks: TestBooks,
  ) {}

  async execute({ workspaceId }: GetOpenHolds): Promise<readonly string[] | null> {
    try {
      const live = await this.books.current(workspaceId);
      const test = await this.testBooks.current(workspaceId);
      return [...(live ? keysOf(live.holds) : []), ...keysOf(test.holds)];
    } catch (error) {
      if (error instanceof CorruptEvent) return null;
      throw error;
    }
  }
}
