import { QueryHandler, type IQueryHandler } from '@nestjs/cqrs';
import { Inject } from '@nestjs/common';
import type pg from 'pg';
import { EVENT_STORE, type EventStore } from '#event-sourcing/store/event-store.js';
import { POSTGRES } from '#platform/postgres/pool.js';
import { CONFIG } from '#platform/tokens.js';
import { bookStream } from '../contracts/events.js';
import type { Config } from '../settings.js';
import {
  GetCredits,
  type CreditsSummary,
  GetBalance,
  type Balance,
  FindExpiringGrants,
  FindLowBalances,
  type ExpiringGrant,
  type FoundPage,
  type LowBalance,
} from '../contracts/messages.js';
import { balanceOf } from '../domain/postings.js';
import { inBurnOrder } from '../domain/credits.state.js';
import { TEST_CREDITS } from '../domain/test-credits.js';
import { CreditBooks, TestBooks } from './credit-books.js';
import { balanceAsOf } from './statements.js';

@QueryHandler(GetCredits)
export class GetCreditsHandler implements IQueryHandler<GetCredits> {
  constructor(
    private readonly books: CreditBooks,
    private readonly testBooks: TestBooks,
  ) {}

  async execute({ workspaceId, livemode }: GetCredits): Promise<CreditsSummary | null> {
    if (!livemode) return this.test(workspaceId);
    const book = await this.books.current(workspaceId);
    if (!book) return null;
    const { available, held } = balanceOf(book);
    const grants = inBurnOrder(book.grants)
      .filter(({ remaining }) => remaining > 0)
      .map(({ grantId, kind, credits, remaining, expiresAt }) => ({
        ...{ grantId, kind, credits, remaining, expiresAt },
      }));
    return { available, reserved: held, grants };
  }

  private async test(workspaceId: string): Promise<CreditsSummary> {
    const { available, held } = balanceOf(await this.testBooks.current(workspaceId));
    const grant = { grantId: 'test', kind: 'test', credits: TEST_CREDITS, expiresAt: null } as const;
    const grants = available > 0 ? [{ ...grant, remaining: available }] : [];
    return { available, reserved: held, grants };
  }
}

@QueryHandler(GetBalance)
export class GetBalanceHandler implements IQueryHandler<GetBalance> {
  constructor(
    private readonly books: CreditBooks,
    private readonly testBooks: TestBooks,
    @Inject(EVENT_STORE) private readonly store: EventStore,
    @Inject(CONFIG) private readonly config: Pick<Config, 'CLOCK_REFUSE_MS'>,
  ) {}

  async execute({ workspaceId, livemode, asOf }: GetBalance): Promise<Balance | null> {
    if (asOf) {
      const stream = this.store.read(bookStream(workspaceId, livemode));
      return balanceAsOf(stream, asOf, this.config.CLOCK_REFUSE_MS);
    }
    const book = await (livemode ? this.books : this.testBooks).current(workspaceId);
    return book && balanceOf(book);
  }
}

const PAGE = 500;

@QueryHandler(FindLowBalances)
export class FindLowBalancesHandler implements IQueryHandler<FindLowBalances> {
  constructor(@Inject(POSTGRES) private readonly pool: pg.Pool) {}

  async execute({ percent, after }: FindLowBalances): Promise<FoundPage<LowBalance>> {
    const { rows: found } = await this.pool.query<LowBalance>(
      `select workspace_id as "workspaceId", available::float8, topped_up_to::float8 as "toppedUpTo",
              topped_up_by as "toppedUpBy" from billing.balance
       where mode = 'live' and workspace_id > $2 and available * 100 < topped_up_to * $1 order by workspace_id limit ${PAGE}`,
      [percent, after],
    );
    return { found, next: found.length < PAGE ? null : found.at(-1)!.workspaceId };
  }
}

@QueryHandler(FindExpiringGrants)
export class FindExpiringGrantsHandler implements IQueryHandler<FindExpiringGrants> {
  constructor(@Inject(POSTGRES) private readonly pool: pg.Pool) {}

  /** A book is due at its next expiry, or before. So the index leaves few books to look into. */
  async execute({ from, until, after }: FindExpiringGrants): Promise<FoundPage<ExpiringGrant>> {
    const { rows } = await this.pool.query<{ workspace_id: string; grants: ExpiringGrant[] }>(
      `select book.workspace_id,
              (select coalesce(json_agg(json_build_object(
                        'workspaceId', book.workspace_id, 'grantId', one ->> 'grantId',
                        'remaining', (one ->> 'remaining')::integer, 'expiresAt', one ->> 'expiresAt')), '[]')
               from jsonb_array_elements(book.agenda -> 'grants') one
               where (one ->> 'remaining')::integer > 0 and (one ->> 'expiresAt')::timestamptz > $1 and (one ->> 'expiresAt')::timestamptz <= $2
              ) as grants
       from (
         select workspace_id, agenda from billing.balance
         where mode = 'live' and workspace_id > $3 and due_at <= $2
         order by workspace_id limit ${PAGE}
       ) book order by book.workspace_id`,
      [from, until, after],
    );
    const next = rows.length < PAGE ? null : rows.at(-1)!.workspace_id;
    return { found: rows.flatMap(({ grants }) => grants), next };
  }
}

export const creditsHandlers = [
  GetCreditsHandler,
  GetBalanceHandler,
  FindLowBalancesHandler,
  FindExpiringGrantsHandler,
];
