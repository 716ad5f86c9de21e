import { QueryHandler, type IQueryHandler } from '@nestjs/cqrs';
import { GetCredits, type CreditsSummary } from '../../contracts/queries.js';
import { balanceOf } from '../../domain/credits/balance.js';
import { inBurnOrder } from '../../domain/credits/burn-order.js';
import { TEST_CREDITS } from '../../domain/credits/test-credits.js';
import { CreditBooks } from '../credit-books.js';
import { TestBooks } from '../test-books.js';

@QueryHandler(GetCredits)
export class GetCreditsHandler implements IQueryHandler<GetCredits> {
  constructor(
    private readonly books: CreditBooks,
    private readonly testBooks: TestBooks,
  ) {}

  execute({ workspaceId, livemode }: GetCredits): Promise<CreditsSummary | null> {
    return livemode ? this.live(workspaceId) : this.test(workspaceId);
  }

  private async live(workspaceId: string): Promise<CreditsSummary | null> {
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

  /** Its credits are shown as one grant. */
  private async test(workspaceId: string): Promise<CreditsSummary> {
    const { available, held } = balanceOf(await this.testBooks.current(workspaceId));
    const grant = { grantId: 'test', kind: 'test', credits: TEST_CREDITS, expiresAt: null } as const;
    const grants = available > 0 ? [{ ...grant, remaining: available }] : [];
    return { available, reserved: held, grants };
  }
}
