import { QueryHandler, type IQueryHandler } from '@app/platform/cqrs/handler.js';
import { GetCredits, type CreditsSummary } from '../../contracts/queries.js';
import { balanceOf } from '../../domain/credits/balance.js';
import { inBurnOrder } from '../../domain/credits/burn-order.js';
import { CreditBooks } from '../credit-books.js';

@QueryHandler(GetCredits)
export class GetCreditsHandler implements IQueryHandler<GetCredits> {
  constructor(private readonly books: CreditBooks) {}

  async execute({ workspaceId }: GetCredits): Promise<CreditsSummary | null> {
    const book = await this.books.current(workspaceId);
    if (!book) return null;
    const { available, held } = balanceOf(book);
    const grants = inBurnOrder(book.grants)
      .filter(({ remaining }) => remaining > 0)
      .map(({ grantId, kind, credits, remaining, expiresAt }) => ({
        grantId,
        kind,
        credits,
        remaining,
        expiresAt,
      }));
    return { available, reserved: held, grants };
  }
}
