import { beforeEach, describe, expect, it } from '@jest/globals';
import { generateKeyPairSync } from 'node:crypto';
import { instant } from '@app/event-sourcing/core/clock.js';
import { InMemoryEventStore } from '@app/event-sourcing/testing/in-memory-event-store.js';
import { CorrectionsVerifier } from '../../audit/corrections/verify-corrections.js';
import {
  BookCorrection,
  OpenBook,
  RecordCorrection,
  RecordOperatorChange,
  type CorrectionEntry,
  type CorrectionEventOf,
  type OperatorsEventOf,
} from '../../contracts/index.js';
import { createCorrectionExecutors } from '../../correction.executors.js';
import { createCreditsExecutor } from '../../credits.executor.js';
import { keyDigest, statementDigest } from '../../domain/signed-text.js';
import { publicKeyOf, signStatement } from '../../signatures/signatures.js';
import { CreditBooks } from '../credit-books.js';
import { OpenBookHandler } from '../open-book/open-book.handler.js';
import { VerifiedRegister } from '../operators/operator-register.js';
import { RecordOperatorChangeHandler } from '../operators/record-operator-change.handler.js';
import { BookCorrectionHandler } from './book-correction.handler.js';
import { CorrectionBooks } from './correction-books.js';
import { RecordCorrectionHandler } from './record-correction.handler.js';

type Proposed = CorrectionEventOf<'CorrectionProposed'>;
type Approved = CorrectionEventOf<'CorrectionApproved'>;

const BY = { actor: 'operator:login', correlationId: 'c', causationId: 'c' };
const person = (name: string) => {
  const { privateKey } = generateKeyPairSync('ed25519');
  const publicKey = publicKeyOf(privateKey);
  return { name, privateKey, publicKey, digest: keyDigest(publicKey) };
};
const [ada, grace, eve] = [person('ada'), person('grace'), person('eve')];
const config = {
  OPERATOR_ROOT_KEYS: [ada.digest, grace.digest],
  CORRECTION_MAX_CREDITS: 1_000,
  CORRECTION_DAILY_CREDITS: 5_000,
};

let now: number;
let store: InMemoryEventStore;
const clock = { now: () => now };
/** A process of its own each time: nothing is remembered. */
const process = () => {
  const executors = createCorrectionExecutors(store);
  const credits = new CreditBooks(createCreditsExecutor(store), clock);
  const books = new CorrectionBooks(credits, store);
  const register = new VerifiedRegister(store, config);
  return {
    register,
    change: new RecordOperatorChangeHandler(executors, register, clock, config),
    record: new RecordCorrectionHandler(executors, books, register, clock, config),
    book: new BookCorrectionHandler(executors, books, register, clock),
    open: new OpenBookHandler(credits),
  };
};

const added = (who: typeof ada, previous: string): OperatorsEventOf<'OperatorAdded'> =>
  signStatement(
    {
      type: 'OperatorAdded',
      data: {
        operator: who.name,
        publicKey: who.publicKey,
        roles: ['propose', 'approve', 'manage'],
        maxCredits: null,
        previous,
      },
    },
    who.name,
    who.privateKey,
    instant(now),
  );
const proposed = (...entries: readonly (Partial<CorrectionEntry> & { amount: number })[]): Proposed =>
  signStatement(
    {
      type: 'CorrectionProposed',
      data: {
        correctionId: 'c1',
        kind: 'adjustment',
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
        expiresAt: instant(now + 86_400_000),
      },
    },
    'ada',
    ada.privateKey,
    instant(now),
  );
const approved = (proposal: Proposed, who = grace): Approved =>
  signStatement(
    {
      type: 'CorrectionApproved',
      data: { correctionId: 'c1', proposal: statementDigest(proposal) },
    },
    who.name,
    who.privateKey,
    instant(now),
  );

const record = (statement: Proposed | Approved) =>
  process().record.execute(new RecordCorrection(statement, BY));
const book = () => process().book.execute(new BookCorrection('c1', BY));
const agree = async (proposal: Proposed): Promise<void> => {
  expect(await record(proposal)).toMatchObject({ outcome: 'recorded' });
  expect(await record(approved(proposal))).toMatchObject({ outcome: 'recorded' });
};
const entries = () => store.log.filter(({ type }) => type === 'CreditsAdjusted');
/** What somebody with the event store's login can do. */
const forge = async (stream: string, { type, data }: { type: string; data: object }): Promise<void> => {
  const revision = store.log.filter((event) => event.stream === stream).length;
  const metadata = {
    correlationId: 'c',
    causationId: 'c',
    workspaceId: '',
    actor: 'system:attacker',
    occurredAt: instant(now),
    schemaVersion: 1,
  };
  await store.append(stream, revision === 0 ? 'no_stream' : BigInt(revision - 1), [
    { id: `forged-${store.log.length}`, type, data, metadata },
  ]);
};
const findings = () => {
  const verifier = new CorrectionsVerifier(config.OPERATOR_ROOT_KEYS);
  for (const event of store.log) verifier.see(event);
  return verifier.report().findings.map(({ message }) => message);
};

beforeEach(async () => {
  now = Date.parse('2026-04-10T12:00:00.000Z');
  store = new InMemoryEventStore(clock.now);
  const { change, register, open } = process();
  for (const ws of ['ws_1', 'ws_2']) await open.execute(new OpenBook(ws, BY));
  for (const who of [ada, grace]) {
    const { head } = await register.load();
    await change.execute(new RecordOperatorChange(added(who, head), BY));
  }
});

describe('an approved correction', () => {
  it('is booked once, by any number of processes and however often', async () => {
    await agree(proposed({ amount: 20 }, { amount: 5 }));
    const results = await Promise.all([book(), book(), book()]);
    expect([...results, await book()].map(({ outcome }) => outcome)).toEqual(Array(4).fill('booked'));
    expect(entries()).toHaveLength(2);
    expect(findings()).toEqual([]);
  });

  it('is not booked again when the process dies before it notes the booking', async () => {
    await agree(proposed({ amount: 20 }));
    const append = store.append.bind(store);
    store.append = (stream, ...rest) =>
      stream.startsWith('correction-') ? Promise.reject(new Error('killed')) : append(stream, ...rest);
    await expect(book()).rejects.toThrow('killed');
    store.append = append;
    expect(entries()).toHaveLength(1);
    expect(await book()).toMatchObject({ outcome: 'booked', correction: { status: 'booked' } });
    expect(entries()).toHaveLength(1);
  });

  it('books entries of a later day on that day', async () => {
    const notBefore = '2026-04-12T00:00:00.000Z';
    await agree(proposed({ amount: 20 }, { amount: 7, notBefore }));
    expect(await book()).toMatchObject({ outcome: 'incomplete', later: [1], refusals: [] });
    now = Date.parse(notBefore);
    expect(await book()).toMatchObject({ outcome: 'booked', correction: { status: 'booked' } });
    expect(entries().map(({ data }) => (data as { amount: number }).amount)).toEqual([20, 7]);
    expect(findings()).toEqual([]);
  });

  it('leaves a book alone that refuses one of its entries, and may be run again', async () => {
    const notBefore = instant(now);
    await agree(
      proposed(
        { amount: 20 },
        { amount: 9, workspaceId: 'ws_2', notBefore },
        { amount: -30, workspaceId: 'ws_2', notBefore },
      ),
    );
    expect(await book()).toMatchObject({
      outcome: 'incomplete',
      correction: { status: 'approved', entries: [{ booked: true }, { booked: false }, { booked: false }] },
      refusals: [{ workspaceId: 'ws_2', code: 'insufficient', required: 30, available: 9 }],
    });
  });
});

describe('somebody with the event store’s login and no key', () => {
  it('cannot have an approval booked that they forge', async () => {
    const proposal = proposed({ amount: 500 });
    await record(proposal);
    const { data } = approved(proposal, eve);
    await forge('correction-c1', {
      type: 'CorrectionApproved',
      data: { ...data, signedBy: { operator: 'grace', keySha256: grace.digest } },
    });
    expect(await book()).toEqual({ outcome: 'refused', refusal: { code: 'bad_signature' } });
    expect(entries()).toEqual([]);
    expect(findings()).toEqual(['the signature does not fit the statement']);
  });

  it('cannot make themself an operator', async () => {
    const { head } = await process().register.load();
    await forge('operators-register', added(eve, head));
    const proposal = proposed({ amount: 500 });
    await record(proposal);
    expect(await record(approved(proposal, eve))).toMatchObject({
      outcome: 'refused',
      refusal: { code: 'not_trusted', operator: 'eve' },
    });
    expect(findings()).toEqual(['this statement about an operator does not count: NotARootKey']);
  });

  it('cannot keep a signature for later', async () => {
    const proposal = proposed({ amount: 20 });
    await record(proposal);
    const kept = approved(proposal);
    now += 3_600_000;
    expect(await record(kept)).toMatchObject({ refusal: { code: 'stale' } });
  });
});
