import { Inject } from '@nestjs/common';
import { QueryHandler, type IQueryHandler } from '@nestjs/cqrs';
import { type StoredEvent, isSetAside, type Recorded } from '#event-sourcing/core/event.js';
import { streamName } from '#event-sourcing/core/stream-name.js';
import { EVENT_STORE, type EventStore } from '#event-sourcing/store/event-store.js';
import { CONFIG } from '#platform/tokens.js';
import { decode } from '#event-sourcing/core/event-catalogue.js';
import { verifyCorrections } from '../audit/corrections.js';
import { bookEvent } from '../audit/book-entry.js';
import { VerifiedBooks } from '../audit/verified-books.js';
import { BookVerifier } from '../audit/verify-book.js';
import { VerifyLedger, type LedgerVerification, SealPeriod, type SealResult } from '../contracts/audit.js';
import { booksOf, bookStream, creditsEvents, type CreditsEventOf } from '../contracts/events.js';
import type { Config } from '../settings.js';
import { readStream, visitLog } from './read.js';
import { allowsSeal, readSealKey, sealOf } from '../audit/seal.js';

@QueryHandler(VerifyLedger)
export class VerifyLedgerHandler implements IQueryHandler<VerifyLedger> {
  constructor(
    @Inject(EVENT_STORE) private readonly store: EventStore,
    @Inject(CONFIG) private readonly config: Pick<Config, 'CLOCK_REFUSE_MS' | 'OPERATORS'>,
  ) {}

  /** The fills of test books are corrections that nobody signs. */
  async execute({ workspaceId, livemode, progress }: VerifyLedger): Promise<LedgerVerification> {
    const adjusted: StoredEvent[] = [];
    const books = new VerifiedBooks(null, this.config.CLOCK_REFUSE_MS);
    const visit = (stored: StoredEvent): void => {
      books.see(stored, bookEvent(stored));
      if (livemode && stored.type === 'CreditsAdjusted') adjusted.push(stored);
    };
    if (workspaceId === null)
      await visitLog(this.store, visit, progress, { categories: [booksOf(livemode)] });
    else
      for await (const stored of readStream(this.store, bookStream(workspaceId, livemode), progress))
        visit(stored);
    const { OPERATORS: operators } = this.config;
    const { findings, compensated } = await verifyCorrections(this.store, adjusted, operators);
    return { books: books.result().map(({ report }) => report), corrections: findings, compensated };
  }
}

type Closed = Recorded<CreditsEventOf<'PeriodClosed'>>;

@QueryHandler(SealPeriod)
export class SealPeriodHandler implements IQueryHandler<SealPeriod> {
  constructor(
    @Inject(EVENT_STORE) private readonly store: EventStore,
    @Inject(CONFIG) private readonly config: Pick<Config, 'CLOCK_REFUSE_MS' | 'OPERATORS'>,
  ) {}

  /**
   * Verifies the part of the book that the seal covers: everything up to the end of the month. The entries after it are
   * read too, since one of them may have taken back a correction that nobody signed.
   */
  async execute({ workspaceId, period, privateKey }: SealPeriod): Promise<SealResult> {
    const key = readSealKey(privateKey);
    if (!key) return { outcome: 'not_an_ed25519_key' };
    const stream = streamName(creditsEvents.category, workspaceId);
    const verifier = new BookVerifier(stream, this.config.CLOCK_REFUSE_MS);
    const adjusted: StoredEvent[] = [];
    let closed: Closed | null = null;
    for await (const stored of this.store.read(stream)) {
      if (stored.type === 'CreditsAdjusted') adjusted.push(stored);
      if (closed) continue;
      verifier.see(stored);
      if (verifier.hasFindings) {
        const bad = verifier.report().findings.find((one) => !allowsSeal(one))!;
        return { outcome: 'does_not_verify', firstBadRevision: bad.revision };
      }
      const end = closing(stored);
      if (end?.data.period === period) closed = end;
    }
    if (!closed) return { outcome: 'not_closed' };
    const { revision } = closed;
    const { findings } = await verifyCorrections(this.store, adjusted, this.config.OPERATORS);
    const finding = findings.find((one) => one.revision <= revision);
    if (finding) return { outcome: 'correction_not_signed', finding };
    return { outcome: 'sealed', seal: sealOf(closed, verifier.money.closedMonth!, key) };
  }
}

const closing = (stored: StoredEvent): Closed | null => {
  if (stored.type !== 'PeriodClosed' || isSetAside(stored)) return null;
  const event = decode(creditsEvents, stored);
  return event.type === 'PeriodClosed' ? event : null;
};
