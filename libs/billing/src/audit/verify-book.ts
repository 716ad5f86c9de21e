import type { OpaqueEvent } from '@app/event-sourcing/core/event-catalogue.js';
import type { Recorded, StoredEvent } from '@app/event-sourcing/core/event.js';
import { CHAIN_START, chainedFacts, continuesChain, nextChain } from '@app/event-sourcing/core/hash-chain.js';
import { streamId } from '@app/event-sourcing/core/stream-name.js';
import type { LedgerFinding, LedgerReport, UnreadableEntry } from '../contracts/audit.js';
import type { CreditsEvent } from '../contracts/events.js';
import { endOfMonth, startOfMonth } from '../domain/credits/calendar.js';
import { InvariantWatch } from '../domain/credits/invariants.js';
import { bookEvent, isOpaque, sentenceOf, unreadableEntry } from './unreadable-entry.js';

/** The chain value of an event that follows another. */
export const chainAfter = (previous: string, event: StoredEvent): string =>
  nextChain(previous, chainedFacts(event));

/** Least number of captures whose causes are remembered. */
const REMEMBERED = 65_536;

/** Causes of the last captures only, so that memory use does not grow with the book. */
class LastCauses {
  private older = new Set<string>();
  private newer = new Set<string>();

  has(id: string): boolean {
    return this.newer.has(id) || this.older.has(id);
  }

  add(id: string): void {
    if (this.newer.size === REMEMBERED) [this.older, this.newer] = [this.newer, new Set()];
    this.newer.add(id);
  }
}

/**
 * Checks the raw events of one book in stream order: revisions, hash chain, dates and invariants. Memory use does not
 * grow with the book: the book's own state and the causes of the last captures.
 *
 * After the first broken invariant, only revisions and chain are checked, because consequences of it would hide it.
 */
export class BookVerifier {
  private readonly findings: LedgerFinding[] = [];
  private readonly quarantined: UnreadableEntry[] = [];
  private readonly causes = new LastCauses();
  private watch: InvariantWatch | null = new InvariantWatch();
  private events = 0;
  private nextRevision = 0n;
  private chain = CHAIN_START;

  constructor(private readonly stream: string) {}

  see(stored: StoredEvent): void {
    this.events += 1;
    this.checkRevision(stored);
    const event = bookEvent(stored);
    if (isOpaque(event) && event.quarantine) return this.passOver(event);
    this.checkChain(stored);
    if (this.watch) this.checkBook(this.watch, event);
  }

  /** The chain goes through an event that a newer program wrote, and past one that another program appended. */
  private passOver(event: OpaqueEvent): void {
    if (continuesChain(this.chain, event.stored)) this.chain = event.stored.metadata.chain!;
    this.quarantined.push(unreadableEntry(event));
  }

  report(): LedgerReport {
    const revisions = this.findings.map(({ revision }) => revision);
    return {
      workspaceId: streamId(this.stream),
      events: this.events,
      headRevision: this.events === 0 ? null : this.nextRevision - 1n,
      headHash: this.chain,
      firstBadRevision: revisions.reduce<bigint | null>(
        (first, revision) => (first === null || revision < first ? revision : first),
        null,
      ),
      findings: this.findings,
      quarantined: this.quarantined,
    };
  }

  private checkRevision({ revision }: StoredEvent): void {
    if (revision !== this.nextRevision) {
      this.find(this.nextRevision, 'revision', `revision ${revision} stands where this one belongs`);
    }
    this.nextRevision = revision + 1n;
  }

  private checkChain(stored: StoredEvent): void {
    const recorded = stored.metadata.chain;
    if (recorded !== chainAfter(this.chain, stored)) {
      this.find(
        stored.revision,
        'chain',
        recorded === undefined ? 'the event has no chain value' : 'the chain value does not fit the event',
      );
    }
    // Reports each break once: what follows is checked against the recorded value.
    this.chain = recorded ?? this.chain;
  }

  private checkBook(watch: InvariantWatch, event: Recorded<CreditsEvent> | OpaqueEvent): void {
    const before = this.findings.length;
    if (isOpaque(event)) {
      this.find(event.stored.revision, 'event', sentenceOf(unreadableEntry(event)));
    } else {
      this.checkOpening(event);
      this.checkDate(event, watch.state.period);
      this.checkCause(event);
      for (const breach of watch.see(event)) this.find(event.revision, 'invariant', breach);
    }
    if (this.findings.slice(before).some(({ check }) => check !== 'date')) this.watch = null;
  }

  private checkOpening(event: Recorded<CreditsEvent>): void {
    if ((event.type === 'BookOpened') !== (this.events === 1)) {
      this.find(event.revision, 'event', 'a book is opened by its first event and no other');
    }
    if (event.type === 'BookOpened' && event.data.workspaceId !== streamId(this.stream)) {
      this.find(event.revision, 'event', 'the book belongs to another workspace');
    }
  }

  private checkDate(event: Recorded<CreditsEvent>, openPeriod: string): void {
    const earliest =
      event.type === 'PeriodClosed'
        ? endOfMonth(event.data.period)
        : openPeriod === ''
          ? -Infinity
          : startOfMonth(openPeriod);
    if (!(Date.parse(event.metadata.occurredAt) >= earliest)) {
      this.find(
        event.revision,
        'date',
        `dated ${event.metadata.occurredAt}, before its month is open for it`,
      );
    }
  }

  /** Credits are earned once: one capture per completed reading. */
  private checkCause(event: Recorded<CreditsEvent>): void {
    if (event.type !== 'CreditsCaptured') return;
    const { causeEventId } = event.data;
    if (this.causes.has(causeEventId)) {
      this.find(event.revision, 'invariant', `event ${causeEventId} was captured for before`);
    }
    this.causes.add(causeEventId);
  }

  private find(revision: bigint, check: LedgerFinding['check'], message: string): void {
    this.findings.push({ revision, check, message });
  }
}
