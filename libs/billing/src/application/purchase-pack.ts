import { Inject } from '@nestjs/common';
import { CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import { uuid5 } from '#event-sourcing/core/event-id.js';
import type { TrustedClock } from '#event-sourcing/core/clock.js';
import { TRUSTED_CLOCK } from '#platform/tokens.js';
import { PurchasePack, type PurchaseResult } from '../contracts/commands.js';
import { packGrantId } from '../domain/credits.decider.js';
import { available } from '../domain/credits.state.js';
import { CORRECTION_EXECUTORS, type CorrectionExecutors } from '../executors.js';
import { CreditBooks } from './credit-books.js';

/** Claims the order line, then grants the pack. A crash in between leaves a claim, and the repeated command the pack. */
@CommandHandler(PurchasePack)
export class PurchasePackHandler implements ICommandHandler<PurchasePack> {
  constructor(
    private readonly books: CreditBooks,
    @Inject(CORRECTION_EXECUTORS) private readonly executors: CorrectionExecutors,
    @Inject(TRUSTED_CLOCK) private readonly clock: TrustedClock,
  ) {}

  async execute({ workspaceId, pack, orderRef: given, by }: PurchasePack): Promise<PurchaseResult> {
    const orderRef = given.trim();
    const grantId = packGrantId(orderRef, pack);
    if (!(await this.books.current(workspaceId))) return { outcome: 'book_not_open' };
    const claim = await this.executors.orderLine.execute(
      uuid5('order line', orderRef, pack),
      { type: 'OrderLineClaimed', data: { orderRef, pack, workspaceId, grantId } },
      { intent: `claim:${workspaceId}`, by, workspaceId, at: await this.clock.now() },
    );
    const owner = claim.state!.workspaceId;
    if (owner !== workspaceId) return { outcome: 'other_workspace', workspaceId: owner };
    const outcome = await this.books.execute(
      workspaceId,
      (now) => ({ type: 'PurchasePack', pack, orderRef, now }),
      grantId,
      by,
    );
    if (outcome.kind === 'rejected') return { outcome: 'book_not_open' };
    return {
      outcome: outcome.kind === 'accepted' ? 'purchased' : 'already_purchased',
      available: available(outcome.state),
    };
  }
}
