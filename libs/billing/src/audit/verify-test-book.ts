import { decodeOrShow, isOpaque } from '#event-sourcing/core/event-catalogue.js';
import type { StoredEvent } from '#event-sourcing/core/event.js';
import { CHAIN_START, continuesChain } from '#event-sourcing/core/hash-chain.js';
import { streamId } from '#event-sourcing/core/stream-name.js';
import type { LedgerFinding, LedgerReport } from '../contracts/audit.js';
import { testBookEvents } from '../contracts/test-book.js';
import type { UnreadableEntry } from '../contracts/unreadable-entry.js';
import { TestBookWatch } from '../domain/test-book/invariants.js';
import { sentenceOf, unreadableEntry } from './unreadable-entry.js';
import { chainAfter } from './verify-book.js';

/**
 * Checks the raw events of one test book in stream order: revisions, hash chain and invariants. Dates are not checked:
 * test credits have no value that they could move. After the first broken invariant, and after an entry that readers
 * pass over, only revisions and chain are checked.
 */
export class TestBookVerifier {
  private readonly findings: LedgerFinding[] = [];
  private readonly setAside: UnreadableEntry[] = [];
  private watch: TestBookWatch | null = new TestBookWatch();
  private events = 0;
  private nextRevision = 0n;
  private chain = CHAIN_START;

  constructor(private readonly stream: string) {}

  see(stored: StoredEvent): void {
    this.events += 1;
    const { revision } = stored;
    if (revision !== this.nextRevision)
      this.find(this.nextRevision, 'revision', `revision ${revision} stands where this one belongs`);
    this.nextRevision = revision + 1n;
    const event = decodeOrShow(testBookEvents, stored);
    if (isOpaque(event) && event.setAside) {
      if (continuesChain(this.chain, stored)) this.chain = stored.metadata.chain!;
      this.setAside.push(unreadableEntry(event));
      this.watch = null;
      return;
    }
    this.checkChain(stored);
    if (isOpaque(event)) {
      this.find(revision, 'event', sentenceOf(unreadableEntry(event)));
      this.watch = null;
      return;
    }
    const breaches = this.watch?.see(event) ?? [];
    for (const breach of breaches) this.find(revision, 'invariant', breach);
    if (breaches.length > 0) this.watch = null;
  }

  report(): LedgerReport {
    const revisions = this.findings.map(({ revision }) => revision);
    return {
      workspaceId: streamId(this.stream),
      events: this.events,
      headRevision: this.events === 0 ? null : this.nextRevision - 1n,
      headHash: this.chain,
      firstBadRevision: revisions.toSorted((a, b) => Number(a - b))[0] ?? null,
      findings: this.findings,
      setAside: this.setAside,
      repairedDates: 0,
    };
  }

  private checkChain(stored: StoredEvent): void {
    const recorded = stored.metadata.chain;
    if (recorded !== chainAfter(this.chain, stored)) {
      const message =
        recorded === undefined ? 'the event has no chain value' : 'the chain value does not fit the event';
      this.find(stored.revision, 'chain', message);
    }
    // Reports each break once: what follows is checked against the recorded value.
    this.chain = recorded ?? this.chain;
  }

  private find(revision: bigint, check: LedgerFinding['check'], message: string): void {
    this.findings.push({ revision, check, message });
  }
}
