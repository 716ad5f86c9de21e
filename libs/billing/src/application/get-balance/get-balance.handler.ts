import { QueryHandler, type IQueryHandler } from '@nestjs/cqrs';
import { GetBalance, type Balance } from '../../contracts/queries.js';
import { balanceOf } from '../../domain/credits/balance.js';
import { CreditBooks } from '../credit-books.js';
import { TestBooks } from '../test-books.js';

@QueryHandler(GetBalance)
export class GetBalanceHandler implements IQueryHandler<GetBalance> {
  constructor(
    private readonly books: CreditBooks,
    private readonly testBooks: TestBooks,
  ) {}

  async execute({ workspaceId, livemode }: GetBalance): Promise<Balance | null> {
    const book = await (livemode ? this.books : this.testBooks).current(workspaceId);
    return book && balanceOf(book);
  }
}
