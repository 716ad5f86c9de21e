import { Inject } from '@nestjs/common';
import { QueryHandler, type IQueryHandler } from '@nestjs/cqrs';
import { decode } from '#event-sourcing/core/event-catalogue.js';
import { isSetAside, type Recorded, type StoredEvent } from '#event-sourcing/core/event.js';
import { streamName } from '#event-sourcing/core/stream-name.js';
import { EVENT_STORE, type EventStore } from '#event-sourcing/store/event-store.js';
import { CONFIG } from '#platform/tokens.js';
import { verifyCorrections } from '../../audit/corrections.js';
import { allowsSeal, readSealKey, sealOf } from '../../audit/seal.js';
import { BookVerifier } from '../../audit/verify-book.js';
import { creditsEvents, type CreditsEventOf } from '../../contracts/events.js';
import { SealPeriod, type SealResult } from '../../contracts/seal.js';
import type { Config } from '../../settings.js';

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
