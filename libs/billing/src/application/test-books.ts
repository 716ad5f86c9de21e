import { Inject, Injectable } from '@nestjs/common';
import type { RequestContext } from '#event-sourcing/core/request-context.js';
import type { TrustedClock } from '#event-sourcing/core/trusted-clock.js';
import { TRUSTED_CLOCK } from '#platform/tokens.js';
import { TEST_BOOK_EXECUTOR, type CreditsExecutor } from '../executors.js';
import { monthOf } from '../domain/credits/calendar.js';
import type { SentCommand } from '../domain/credits/credits.commands.js';
import { evolve, type Credits } from '../domain/credits/credits.state.js';
import { filledAt } from '../domain/credits/test-credits.js';
import { CreditBooks, type CreditsOutcome } from './credit-books.js';

/** The test books of all workspaces: credit books in streams of their own. The first command opens one. */
@Injectable()
export class TestBooks extends CreditBooks {
  constructor(
    @Inject(TEST_BOOK_EXECUTOR) executor: CreditsExecutor,
    @Inject(TRUSTED_CLOCK) clock: TrustedClock,
  ) {
    super(executor, clock);
  }

  override async execute(
    workspaceId: string,
    command: (now: number) => SentCommand,
    intent: string,
    by: RequestContext,
  ): Promise<CreditsOutcome> {
    const outcome = await super.execute(workspaceId, command, intent, by);
    if (outcome.kind !== 'rejected' || outcome.code !== 'BookNotOpen') return outcome;
    await super.execute(workspaceId, (now) => ({ type: 'OpenBook', workspaceId, now }), 'open', by);
    return super.execute(workspaceId, command, intent, by);
  }

  /** The book as the next reservation would find it: never `null`, because a book that is not open yet is full. */
  override async current(workspaceId: string): Promise<Credits> {
    const { state } = await this.executor.load(workspaceId);
    const now = await this.now();
    if (state.workspaceId !== null) return now === null ? state : filledAt(state, now);
    const period = monthOf(now ?? 0);
    return filledAt(evolve(state, { type: 'BookOpened', data: { workspaceId, period } }), now ?? 0);
  }
}
