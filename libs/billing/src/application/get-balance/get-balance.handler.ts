import { QueryHandler, type IQueryHandler } from '@nestjs/cqrs';
import { GetBalance, type Balance } from '../../contracts/queries.js';
import { balanceOf } from '../../domain/credits/balance.js';
import { CreditBooks } from '../credit-books.js';

@QueryHandler(GetBalance)
export class GetBalanceHandler implements IQueryHandler<GetBalance> {
  constructor(private readonly books: CreditBooks) {}

  async execute({ workspaceId }: GetBalance): Promise<Balance | null> {
    const book = await this.books.current(workspaceId);
    return book && balanceOf(book);
  }
}
