import { QueryHandler, type IQueryHandler } from '@app/platform/cqrs/handler.js';
import { GetOpenHolds } from '@app/readings/contracts/index.js';
import { keysOf } from '../../domain/credits/bucket-map.js';
import { CreditBooks } from '../credit-books.js';

@QueryHandler(GetOpenHolds)
export class GetOpenHoldsHandler implements IQueryHandler<GetOpenHolds> {
  constructor(private readonly books: CreditBooks) {}

  async execute({ workspaceId }: GetOpenHolds): Promise<readonly string[]> {
    const book = await this.books.current(workspaceId);
    return book ? keysOf(book.holds) : [];
  }
}
