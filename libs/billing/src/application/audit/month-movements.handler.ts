import { streamName } from '@app/event-sourcing/core/stream-name.js';
import { EVENT_STORE, type EventStore } from '@app/event-sourcing/store/event-store.js';
import { QueryHandler, type IQueryHandler } from '@app/platform/cqrs/handler.js';
import { Inject } from '@app/platform/injection.js';
import { ledgerEntry, opaqueEntry } from '../../audit/ledger-entry.js';
import { findClose } from '../../audit/month-place.js';
import { bookEvent, isOpaque, unreadableEntry } from '../../audit/unreadable-entry.js';
import { GetMonthMovements, type MonthMovements } from '../../contracts/month-movements.js';
import { creditsEvents, type Accounts } from '../../contracts/events.js';
import type { LedgerEntry } from '../../contracts/queries.js';
import { CREDITS_EXECUTOR, type CreditsExecutor } from '../../credits.executor.js';
import { balances, postings } from '../../domain/credits/postings.js';

interface End {
  readonly closed: boolean;
  readonly opening: Accounts;
  readonly closing: Accounts;
  readonly revision: bigint;
}

/** Reads from the end of the month, so that a month of any length costs the same. */
@QueryHandler(GetMonthMovements)
export class MonthMovementsHandler implements IQueryHandler<GetMonthMovements> {
  constructor(
    @Inject(EVENT_STORE) private readonly store: EventStore,
    @Inject(CREDITS_EXECUTOR) private readonly executor: CreditsExecutor,
  ) {}

  async execute({ workspaceId, period, limit }: GetMonthMovements): Promise<MonthMovements | null> {
    const stream = streamName(creditsEvents.category, workspaceId);
    const end = (await this.closed(stream, period)) ?? (await this.open(workspaceId, period));
    if (!end) return null;
    const { closed, opening, closing, revision } = end;
    const after = { available: closing.available, held: closing.held };
    const entries: LedgerEntry[] = [];
    const newest = this.store.read(stream, { from: revision, direction: 'backwards', limit: limit + 1 });
    for await (const stored of newest) {
      const event = bookEvent(stored);
      if (!isOpaque(event) && 'period' in event.data && event.data.period < period) break;
      if (entries.length === limit) return { closed, opening, closing, entries, hasEarlier: true };
      if (isOpaque(event)) {
        entries.push(opaqueEntry(unreadableEntry(event), after));
        continue;
      }
      entries.push(ledgerEntry(event, after));
      for (const { account, amount } of postings(event))
        if (account === 'available' || account === 'held') after[account] -= amount;
    }
    return { closed, opening, closing, entries, hasEarlier: false };
  }

  private async closed(stream: string, period: string): Promise<End | null> {
    const close = await findClose(this.store, stream, period);
    if (!close) return null;
    const { opening, closing } = close.data;
    return { closed: true, opening, closing, revision: close.revision };
  }

  private async open(workspaceId: string, period: string): Promise<End | null> {
    const { state, revision } = await this.executor.load(workspaceId);
    if (state.period !== period || revision === 'no_stream') return null;
    const { opening, totals } = state;
    return { closed: false, opening, closing: balances(opening, totals), revision };
  }
}
