import { generateKeyPairSync, type KeyObject } from 'node:crypto';
import { instant } from '@app/event-sourcing/core/clock.js';
import type { StoredEvent } from '@app/event-sourcing/core/event.js';
import { decode } from '@app/event-sourcing/core/event-catalogue.js';
import { withQuarantines } from '@app/event-sourcing/quarantine/with-quarantines.js';
import { InMemoryEventStore } from '@app/event-sourcing/testing/in-memory-event-store.js';
import { BookCorrectionHandler } from '../src/application/corrections/book-correction.handler.js';
import { CorrectionBooks } from '../src/application/corrections/correction-books.js';
import { DailyLimit } from '../src/application/corrections/daily-limit.js';
import { GetCorrectionHandler } from '../src/application/corrections/get-corrections.handlers.js';
import { RecordCorrectionHandler } from '../src/application/corrections/record-correction.handler.js';
import { CreditBooks } from '../src/application/credit-books.js';
import { OpenBookHandler } from '../src/application/open-book/open-book.handler.js';
import { VerifiedRegister } from '../src/application/operators/operator-register.js';
import { RecordOperatorChangeHandler } from '../src/application/operators/record-operator-change.handler.js';
import { CorrectionsVerifier } from '../src/audit/corrections/verify-corrections.js';
import {
  BookCorrection,
  GetCorrection,
  OpenBook,
  RecordCorrection,
  creditsEvents,
  RecordOperatorChange,
  type CorrectionEntry,
  type CorrectionKind,
  type CorrectionEventOf,
  type CorrectionsReport,
  type OperatorsEventOf,
  type SignedCorrectionEvent,
} from '../src/contracts/index.js';
import { createCorrectionExecutors } from '../src/correction.executors.js';
import { createCreditsExecutor } from '../src/credits.executor.js';
import { learn, nothingKnown } from '../src/domain/credits/reversals.js';
import { keyDigest, statementDigest } from '../src/domain/signed-text.js';
import { publicKeyOf, signStatement } from '../src/signatures/signatures.js';

export type Proposed = CorrectionEventOf<'CorrectionProposed'>;
export type Approved = CorrectionEventOf<'CorrectionApproved'>;

const BY = { actor: 'operator:login', correlationId: 'c', causationId: 'c' };
const DAY_MS = 86_400_000;

export interface Person {
  readonly name: string;
  readonly privateKey: KeyObject;
  readonly publicKey: string;
  readonly digest: string;
}

const person = (name: string): Person => {
  const { privateKey } = generateKeyPairSync('ed25519');
  const publicKey = publicKeyOf(privateKey);
  return { name, privateKey, publicKey, digest: keyDigest(publicKey) };
};
/** Ada and Grace are operators by configuration; Eve is none. */
export const [ada, grace, eve] = [person('ada'), person('grace'), person('eve')];

const config = {
  OPERATOR_ROOT_KEYS: [ada.digest, grace.digest],
  CORRECTION_MAX_CREDITS: 1_000,
  CORRECTION_DAILY_CREDITS: 5_000,
};

/** Corrections of two books, `ws_1` and `ws_2`, on a store in memory that an attacker may append to. */
export class CorrectionOffice {
  now = Date.parse('2026-04-10T12:00:00.000Z');
  readonly store = new InMemoryEventStore(() => this.now);
  readonly clock = { now: () => this.now };
  readonly config: typeof config & { readonly CLOCK_REFUSE_MS: number };

  /** @param limits other than the default ones of the office */
  constructor(limits: Partial<typeof config> = {}) {
    this.config = { ...config, CLOCK_REFUSE_MS: 10_000, ...limits };
  }

  static async open(limits: Partial<typeof config> = {}): Promise<CorrectionOffice> {
    const office = new CorrectionOffice(limits);
    const { open } = office.process();
    for (const ws of ['ws_1', 'ws_2']) await open.execute(new OpenBook(ws, BY));
    for (const who of [ada, grace]) await office.add(who);
    return office;
  }

  /** A process of its own each time: nothing is remembered. */
  process() {
    const { clock, config } = this;
    const store = withQuarantines(this.store);
    const executors = createCorrectionExecutors(store, config.OPERATOR_ROOT_KEYS);
    const credits = new CreditBooks(createCreditsExecutor(store, 10_000), clock);
    const books = new CorrectionBooks(credits, store);
    const limit = new DailyLimit(executors, books, config);
    const register = new VerifiedRegister(store, config);
    return {
      executors,
      books,
      register,
      change: new RecordOperatorChangeHandler(executors, register, clock, config),
      record: new RecordCorrectionHandler(executors, books, limit, register, clock, config),
      book: new BookCorrectionHandler(executors, books, register, clock),
      get: new GetCorrectionHandler(executors, books, clock),
      open: new OpenBookHandler(credits),
      credits,
    };
  }

  async head(): Promise<string> {
    return (await this.process().register.load()).head;
  }

  async add(who: Person) {
    const change = this.added(who, await this.head());
    return this.process().change.execute(new RecordOperatorChange(change, BY));
  }

  async revoke(who: Person, signer: Person) {
    const change = this.revoked(who, signer, await this.head());
    return this.process().change.execute(new RecordOperatorChange(change, BY));
  }

  added(who: Person, previous: string): OperatorsEventOf<'OperatorAdded'> {
    const roles = ['propose' as const, 'approve' as const, 'manage' as const];
    const data = { operator: who.name, publicKey: who.publicKey, roles, maxCredits: null, previous };
    return this.sign({ type: 'OperatorAdded', data }, who);
  }

  revoked(who: Person, signer: Person, previous: string): OperatorsEventOf<'OperatorRevoked'> {
    const data = { operator: who.name, keySha256: who.digest, reason: 'stolen', previous };
    return this.sign({ type: 'OperatorRevoked', data }, signer);
  }

  proposed(...entries: readonly (Partial<CorrectionEntry> & { amount: number })[]): Proposed {
    return this.proposedAs('c1', entries);
  }

  proposedAs(
    correctionId: string,
    entries: readonly (Partial<CorrectionEntry> & { amount: number })[],
    who = ada,
    kind: CorrectionKind = 'adjustment',
  ): Proposed {
    const data = {
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
        notBefore: null,
        ...entry,
      })),
      expiresAt: instant(this.now + DAY_MS),
    };
    return this.sign({ type: 'CorrectionProposed', data }, who);
  }

  approved(proposal: Proposed, who = grace): Approved {
    const { correctionId } = proposal.data;
    const data = { correctionId, proposal: statementDigest(proposal) };
    return this.sign({ type: 'CorrectionApproved', data }, who);
  }

  withdrawn(proposal: Proposed, who = ada): CorrectionEventOf<'CorrectionWithdrawn'> {
    const { correctionId } = proposal.data;
    const data = { correctionId, proposal: statementDigest(proposal), reason: 'wrong' };
    return this.sign({ type: 'CorrectionWithdrawn', data }, who);
  }

  record(statement: SignedCorrectionEvent) {
    return this.process().record.execute(new RecordCorrection(statement, BY));
  }

  book(correctionId = 'c1') {
    return this.process().book.execute(new BookCorrection(correctionId, BY));
  }

  async status(correctionId = 'c1') {
    return (await this.process().get.execute(new GetCorrection(correctionId)))?.status;
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
    const ids = new Set(reversesEventId === null ? [] : [reversesEventId]);
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
      once: false,
      entries: [entry],
      known: this.store.log
        .filter((event) => event.stream === stream)
        .reduce((known, event) => learn(known, decode(creditsEvents, event), ids), nothingKnown),
      now: this.now,
    };
    const context = { intent: `forged ${this.entries().length}`, by: BY, workspaceId, at: this.now };
    const { kind } = await createCreditsExecutor(this.store, 10_000).execute(workspaceId, command, context);
    if (kind !== 'accepted') throw new Error(`The entry was ${kind}`);
    return this.entries().at(-1)!;
  }

  /** Entries that corrections made. */
  entries() {
    return this.store.log.filter(({ type }) => type === 'CreditsAdjusted');
  }

  /** What somebody with the event store's login can do. */
  async forge(
    stream: string,
    { type, data }: { type: string; data: object },
    given: { workspaceId?: string; schemaVersion?: number } = {},
  ): Promise<void> {
    const revision = this.store.log.filter((event) => event.stream === stream).length;
    const metadata = {
      correlationId: 'c',
      causationId: 'c',
      workspaceId: '',
      actor: 'system:attacker',
      occurredAt: instant(this.now),
      schemaVersion: 1,
      ...given,
    };
    await this.store.append(stream, revision === 0 ? 'no_stream' : BigInt(revision - 1), [
      { id: `forged-${this.store.log.length}`, type, data, metadata },
    ]);
  }

  /** Proposes, approves and books a correction. @throws Error when the book does not take it */
  async correct(correctionId: string, entry: Partial<CorrectionEntry> & { amount: number }): Promise<void> {
    const proposal = this.proposedAs(correctionId, [entry]);
    await this.record(proposal);
    await this.record(this.approved(proposal));
    const { outcome } = await this.book(correctionId);
    if (outcome !== 'booked') throw new Error(`The correction ${correctionId} is ${outcome}`);
  }

  /** What `ops corrections verify` finds. */
  findings(): readonly string[] {
    return this.report().findings.map(({ message }) => message);
  }

  report(): CorrectionsReport {
    const verifier = new CorrectionsVerifier(config.OPERATOR_ROOT_KEYS);
    for (const event of this.store.log) verifier.see(event);
    return verifier.report();
  }

  private sign<T extends Parameters<typeof signStatement>[0]>(statement: T, who: Person) {
    return signStatement<never>(statement as never, who.name, who.privateKey, instant(this.now));
  }
}
