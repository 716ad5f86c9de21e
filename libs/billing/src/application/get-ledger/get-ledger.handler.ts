import { Inject } from '@nestjs/common';
import { QueryHandler, type IQueryHandler } from '@nestjs/cqrs';
import { EVENT_STORE, type EventStore } from '#event-sourcing/store/event-store.js';
import { ledgerEntry, opaqueEntry } from '../../audit/ledger-entry.js';
import { bookEvent, isOpaque, unreadableEntry } from '../../audit/unreadable-entry.js';
import { bookStream } from '../../contracts/events.js';
import { GetLedger, type LedgerEntry } from '../../contracts/queries.js';
import { postings } from '../../domain/credits/postings.js';

/** Reads the whole stream, not the folded state: a statement consists of the recorded facts. */
@QueryHandler(GetLedger)
export class GetLedgerHandler implements IQueryHandler<GetLedger> {
  constructor(@Inject(EVENT_STORE) private readonly store: EventStore) {}

  async execute({ workspaceId, livemode }: GetLedger): Promise<LedgerEntry[]> {
    const entries: LedgerEntry[] = [];
    const balance = { available: 0, held: 0 };
    for await (const stored of this.store.read(bookStream(workspaceId, livemode))) {
      const event = bookEvent(stored);
      if (isOpaque(event)) {
        entries.push(opaqueEntry(unreadableEntry(event), balance));
        continue;
      }
      for (const { account, amount } of postings(event)) {
        if (account === 'available' || account === 'held') balance[account] += amount;
      }
      entries.push(ledgerEntry(event, balance));
    }
    return entries;
  }
}
