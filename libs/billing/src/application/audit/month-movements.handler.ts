import { Inject } from '@nestjs/common';
import { QueryHandler, type IQueryHandler } from '@nestjs/cqrs';
import { streamName } from '#event-sourcing/core/stream-name.js';
import { EVENT_STORE, type EventStore } from '#event-sourcing/store/event-store.js';
import { ledgerEntry, opaqueEntry } from '../../audit/ledger-entry.js';
import { findClose } from '../../audit/month-place.js';
import { bookEvent, isOpaque, unreadableEntry } from '../../audit/unreadable-entry.js';
import {
  GetMonthMovements,
  StreamMonthMovements,
  type MonthMovements,
  type StreamedMonth,
} from '../../contracts/month-movements.js';
import { creditsEvents, type Accounts } from '../../contracts/events.js';
import type { LedgerEntry } from '../../contracts/queries.js';
import { CREDITS_EXECUTOR, type CreditsExecutor } from '../../executors.js';
import { monthAfter, monthBefore } from '../../domain/credits/calendar.js';
import { balances, postings } from '../../domain/credits/postings.js';

interface End {
  readonly closed: boolean;
  readonly opening: Accounts;
  readonly closing: Accounts;
  /** Of the last entry. */
  readonly revision: bigint;
}

/** The end of a month, without its entries; `null`: nothing is recorded of it. */
const endOf = async (
  store: EventStore,
  executor: CreditsExecutor,
  workspaceId: string,
  period: string,
): Promise<End | null> => {
  const close = await findClose(store, streamName(creditsEvents.category, workspaceId), period);
  if (close) {
    const { opening, closing } = close.data;
    return { closed: true, opening, closing, revision: close.revision };
  }
  const { state, revision } = await executor.load(workspaceId);
  if (state.period !== period || revision === 'no_stream') return null;
  const { opening, totals } = state;
  return { closed: false, opening, closing: balances(opening, totals), revision };
};

/** Reads from the end of the month, so that a month of any length costs the same. */
@QueryHandler(GetMonthMovements)
export class MonthMovementsHandler implements IQueryHandler<GetMonthMovements> {
  constructor(
    @Inject(EVENT_STORE) private readonly store: EventStore,
    @Inject(CREDITS_EXECUTOR) private readonly executor: CreditsExecutor,
  ) {}

  async execute({ workspaceId, period, limit }: GetMonthMovements): Promise<MonthMovements | null> {
    const end = await endOf(this.store, this.executor, workspaceId, period);
    if (!end) return null;
    const { closed, opening, closing, revision } = end;
    const after = { available: closing.available, held: closing.held };
    const entries: LedgerEntry[] = [];
    const stream = streamName(creditsEvents.category, workspaceId);
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
}

/** Adds up the postings from the opening balance: it needs no fold of the book, and holds no more than a page of it. */
@QueryHandler(StreamMonthMovements)
export class StreamMonthMovementsHandler implements IQueryHandler<StreamMonthMovements> {
  constructor(
    @Inject(EVENT_STORE) private readonly store: EventStore,
    @Inject(CREDITS_EXECUTOR) private readonly executor: CreditsExecutor,
  ) {}

  async execute({ workspaceId, period }: StreamMonthMovements): Promise<StreamedMonth | null> {
    const stream = streamName(creditsEvents.category, workspaceId);
    const end = await endOf(this.store, this.executor, workspaceId, period);
    if (!end) return null;
    const before = await findClose(this.store, stream, monthBefore(period));
    const from = before ? before.revision + 1n : 0n;
    const count = Number(end.revision - from) + 1;
    return count === 0 ? null : { count, entries: this.entries(stream, period, from, count, end.opening) };
  }

  private async *entries(
    stream: string,
    period: string,
    from: bigint,
    count: number,
    opening: Accounts,
  ): AsyncGenerator<LedgerEntry> {
    const after = { available: opening.available, held: opening.held };
    // Where a wrong clock hides the close before, the book is read from its beginning.
    let month = from === 0n ? '' : period;
    for await (const stored of this.store.read(stream, { from, limit: count })) {
      const event = bookEvent(stored);
      if (isOpaque(event)) {
        if (month === period) yield opaqueEntry(unreadableEntry(event), after);
        continue;
      }
      if (event.type === 'BookOpened') month = event.data.period;
      if (month === period) {
        for (const { account, amount } of postings(event))
          if (account === 'available' || account === 'held') after[account] += amount;
        yield ledgerEntry(event, after);
      }
      if (event.type === 'PeriodClosed') month = monthAfter(event.data.period);
    }
  }
}
