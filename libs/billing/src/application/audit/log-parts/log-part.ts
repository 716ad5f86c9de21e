import type { StoredEvent } from '@app/event-sourcing/core/event.js';
import { categoryOf, streamName } from '@app/event-sourcing/core/stream-name.js';
import type { Folded } from '@app/event-sourcing/handling/folded.js';
import type { StreamSelection } from '@app/event-sourcing/store/stream-selection.js';
import { readingEvents } from '@app/readings/contracts/index.js';
import type { BalanceRow } from '../../../audit/book-balances.js';
import { ReconcilePart, type ReconciledPart } from '../../../audit/reconcile-part.js';
import { isCorrection } from '../../../audit/corrections/verify-corrections.js';
import type { ReadingFact } from '../../../audit/settlements.js';
import { bookEvent } from '../../../audit/unreadable-entry.js';
import { VerifiedBooks, type VerifiedBook } from '../../../audit/verified-books.js';
import { creditsEvents } from '../../../contracts/events.js';
import type { Credits } from '../../../domain/credits/credits.state.js';

/** What is done with each book of the log. Plain data, because threads receive it. */
export interface PartTask {
  /** Verify the books, and take a month of each (`yyyy-mm`; `null`: none). `boundMs` is CLOCK_REFUSE_MS. */
  readonly verify: { readonly period: string | null; readonly boundMs: number } | null;
  /** Reconcile one workspace or all (`null`) with these rows of the balance view, read before the log. */
  readonly reconcile: {
    readonly workspaceId: string | null;
    readonly rows: ReadonlyMap<string, BalanceRow>;
  } | null;
  /** Collect the entries of corrections. */
  readonly corrections: boolean;
}

export interface PartResult {
  readonly verified: readonly VerifiedBook[];
  readonly reconciled: ReconciledPart | null;
  /** In log order. */
  readonly corrections: readonly StoredEvent[];
}

/** The streams that a task needs. */
export const streamsFor = ({ reconcile }: PartTask): StreamSelection => ({
  categories: [creditsEvents.category, ...(reconcile ? [readingEvents.category] : [])],
});

/** A part of the log: whole streams, whose events it takes once and in log order. */
export interface LogPart<E = StoredEvent> {
  /** @returns what they show of readings and captures */
  take(events: readonly E[]): Promise<readonly ReadingFact[]>;
  /** A book of this part after its last event; `null` when it is of another part, or has to be read again. */
  folded(workspaceId: string): Promise<Folded<Credits> | null>;
  /** The workspaces of the books of this part that have not closed a month, without those where something was found. */
  openUntil(period: string): Promise<readonly string[]>;
  /** Takes newer rows of the balance view. */
  refresh(rows: ReadonlyMap<string, BalanceRow>): Promise<void>;
  result(): Promise<PartResult>;
  close(): Promise<void>;
}

/** A part that this thread judges. */
export class OwnPart implements LogPart {
  private readonly books: VerifiedBooks | null;
  private readonly reconcile: ReconcilePart | null;
  private readonly corrections: StoredEvent[] | null;
  private facts: ReadingFact[] = [];

  constructor({ verify, reconcile, corrections }: PartTask) {
    this.books = verify && new VerifiedBooks(verify.period, verify.boundMs);
    this.corrections = corrections ? [] : null;
    this.reconcile =
      reconcile && new ReconcilePart(reconcile.workspaceId, reconcile.rows, (fact) => this.facts.push(fact));
  }

  async take(events: readonly StoredEvent[]): Promise<readonly ReadingFact[]> {
    this.facts = [];
    for (const event of events) this.see(event);
    return this.facts;
  }

  async folded(workspaceId: string): Promise<Folded<Credits> | null> {
    return this.books?.folded(streamName(creditsEvents.category, workspaceId)) ?? null;
  }

  async openUntil(period: string): Promise<readonly string[]> {
    return this.books?.openUntil(period) ?? [];
  }

  async refresh(rows: ReadonlyMap<string, BalanceRow>): Promise<void> {
    this.reconcile?.refresh(rows);
  }

  async result(): Promise<PartResult> {
    return {
      verified: this.books?.result() ?? [],
      reconciled: this.reconcile?.result() ?? null,
      corrections: this.corrections ?? [],
    };
  }

  async close(): Promise<void> {
    // Nothing is open.
  }

  private see(stored: StoredEvent): void {
    if (isCorrection(stored)) this.corrections?.push(stored);
    if (categoryOf(stored.stream) !== creditsEvents.category) {
      this.reconcile?.see(stored);
      return;
    }
    // Decoding costs as much as judging: once for both.
    const event = bookEvent(stored);
    this.books?.see(stored, event);
    this.reconcile?.see(stored, event);
  }
}
