import { instant } from '#event-sourcing/core/clock.js';
import type { StoredEvent } from '#event-sourcing/core/event.js';
import { withSetAside } from '#event-sourcing/projections/set-aside.js';
import { InMemoryEventStore } from '#event-sourcing/testing/in-memory-event-store.js';
import {
  CorrectionBooks,
  FindCorrectionsHandler,
  RecordCorrectionHandler,
} from '../src/application/corrections.js';
import { CreditBooks, OpenBookHandler } from '../src/application/credit-books.js';
import { isCorrection, verifyCorrections, type CorrectionsReport } from '../src/audit/corrections.js';
import {
  OpenBook,
  RecordCorrection,
  type CorrectionEntry,
  type CorrectionEvent,
  type CorrectionKind,
} from '../src/contracts/index.js';
import { createCorrectionExecutors, createCreditsExecutor } from '../src/executors.js';
import { textsToSign, signText } from '../src/offline.js';
import { knownIn } from './adjustment.js';
import { ada, grace, OPERATORS, type Person } from './operators.js';

export type Proposed = Extract<CorrectionEvent, { type: 'CorrectionProposed' }>;
export type Approved = Extract<CorrectionEvent, { type: 'CorrectionApproved' }>;
type GivenEntry = Partial<CorrectionEntry> & { readonly amount: number };

const BY = { actor: 'operator:login', correlationId: 'c', causationId: 'c' };
const DAY_MS = 86_400_000;

const signaturesOf = (
  { correctionId, operator, entries }: Pick<Proposed['data'], 'correctionId' | 'operator' | 'entries'>,
  { privateKey }: Person,
): string[] => textsToSign(correctionId, operator, entries).map((text) => signText(text, privateKey));

/** Corrections of two books, `ws_1` and `ws_2`, on a store in memory that an attacker may append to. */
export class CorrectionOffice {
  now = Date.parse('2026-04-10T12:00:00.000Z');
  readonly store = new InMemoryEventStore(() => this.now);
  readonly clock = { now: () => this.now };
  readonly config = { OPERATORS, CLOCK_REFUSE_MS: 10_000 };

  static async open(): Promise<CorrectionOffice> {
    const office = new CorrectionOffice();
    const { open } = office.process();
    for (const ws of ['ws_1', 'ws_2']) await open.execute(new OpenBook(ws, BY));
    return office;
  }

  /** A process of its own each time: nothing is remembered. */
  process() {
    const { clock, config } = this;
    const store = withSetAside(this.store);
    const executors = createCorrectionExecutors(store);
    const credits = new CreditBooks(createCreditsExecutor(store, 10_000), clock);
    const books = new CorrectionBooks(credits, store);
    return {
      executors,
      books,
      record: new RecordCorrectionHandler(executors, books, clock, config),
      find: new FindCorrectionsHandler(executors, books, clock, store),
      open: new OpenBookHandler(credits),
      credits,
    };
  }

  proposed(...entries: readonly GivenEntry[]): Proposed {
    return this.proposedAs('c1', entries);
  }

  proposedAs(
    correctionId: string,
    entries: readonly GivenEntry[],
    who = ada,
    kind: CorrectionKind = 'adjustment',
  ): Proposed {
    const content = {
      correctionId,
      kind,
      reason: 'outage',
      reference: 'INC-42',
      entries: entries.map((entry) => ({
        workspaceId: 'ws_1',
        reason: 'outage',
        reference: 'INC-42',
        reversesEventId: null,
        grantId: null,
        expiresAt: null,
        ...entry,
      })),
      expiresAt: instant(this.now + DAY_MS),
      operator: who.name,
    };
    const signatures = signaturesOf(content, who);
    return { type: 'CorrectionProposed', data: { ...content, signatures } };
  }

  approved({ data }: Proposed, who = grace): Approved {
    const signatures = signaturesOf(data, who);
    const { correctionId } = data;
    return { type: 'CorrectionApproved', data: { correctionId, operator: who.name, signatures } };
  }

  record(event: CorrectionEvent) {
    return this.process().record.execute(new RecordCorrection(event, BY));
  }

  /** Proposes and approves. @returns the answer to the approval */
  async agree(proposal: Proposed) {
    const { outcome } = await this.record(proposal);
    if (outcome === 'refused') throw new Error('The proposal is refused');
    return this.record(this.approved(proposal));
  }

  /** Buys a pack of 200 credits for `ws_1`. @returns the id of its event */
  async buyPack(): Promise<string> {
    const command = { type: 'PurchasePack', pack: 'sprint', orderRef: 'o1' } as const;
    await this.process().credits.execute('ws_1', (now) => ({ ...command, now }), 'buy', BY);
    return this.store.log.findLast(({ type }) => type === 'PackPurchased')!.id;
  }

  /** What somebody can do who runs our code with the event store's login: the hash chain is right. */
  async bookUnsigned(
    workspaceId: string,
    amount: number,
    reversesEventId: string | null = null,
  ): Promise<StoredEvent> {
    const stream = `credits-${workspaceId}`;
    const entry = {
      adjustmentId: `unsigned-${this.entries().length}`,
      amount,
      reason: 'a gift',
      reference: 'none',
      reversesEventId,
      grantId: null,
      expiresAt: null,
    };
    const command = {
      type: 'BookCorrection' as const,
      correctionId: 'c1',
      approvedBy: 'grace',
      actor: 'operator:ada',
      entries: [entry],
      known: knownIn(this.store.log.filter((event) => event.stream === stream)),
      now: this.now,
    };
    const context = { intent: `forged ${this.entries().length}`, by: BY, workspaceId, at: this.now };
    const { kind } = await createCreditsExecutor(this.store, 10_000).execute(workspaceId, command, context);
    if (kind !== 'accepted') throw new Error(`The entry was ${kind}`);
    return this.entries().at(-1)!;
  }

  /** Entries that corrections made. */
  entries() {
    return this.store.log.filter(isCorrection);
  }

  /** What somebody with the event store's login can do. */
  async forge(stream: string, { type, data }: { type: string; data: object }): Promise<void> {
    const revision = this.store.log.filter((event) => event.stream === stream).length;
    const metadata = {
      correlationId: 'c',
      causationId: 'c',
      workspaceId: '',
      actor: 'system:attacker',
      occurredAt: instant(this.now),
      schemaVersion: 1,
    };
    await this.store.append(stream, revision === 0 ? 'no_stream' : BigInt(revision - 1), [
      { id: `forged-${this.store.log.length}`, type, data, metadata },
    ]);
  }

  /** Proposes, approves and books a correction. @throws Error when the book does not take it */
  async correct(correctionId: string, entry: GivenEntry): Promise<void> {
    const { outcome } = await this.agree(this.proposedAs(correctionId, [entry]));
    if (outcome !== 'booked') throw new Error(`The correction ${correctionId} is ${outcome}`);
  }

  /** What audits find in all books. */
  async findings(
    entries: readonly StoredEvent[] = this.entries(),
    operators = OPERATORS,
  ): Promise<readonly string[]> {
    const { findings } = await verifyCorrections(this.store, entries, operators);
    return findings.map(({ message }) => message);
  }

  report(): Promise<CorrectionsReport> {
    return verifyCorrections(this.store, this.entries(), OPERATORS);
  }
}
