import { beforeEach, describe, expect, it } from '@jest/globals';
import type { Quarantine, StoredEvent } from '@app/event-sourcing/core/event.js';
import { nextChain, chainedFacts } from '@app/event-sourcing/core/hash-chain.js';
import { given } from '@app/event-sourcing/testing/projection-spec.js';
// @ts-expect-error the offline verifier is plain JavaScript, so that an auditor can run it anywhere
import { Verifier } from '../../../../tools/verify-ledger/verifier.mjs';
import { STREAM, TestBook, WS } from '../../test/book.js';
import { CreditBooks } from '../application/credit-books.js';
import { createCreditsExecutor } from '../credits.executor.js';
import { balanceProjection } from '../read-models/balance/balance.projection.js';
import { balanceAsOf } from './balance-as-of.js';
import { BookExport } from './export-book.js';
import { Reconciler } from './reconcile.js';
import { statementOf } from './statement.js';
import { BookVerifier } from './verify-book.js';

const AT = '2026-04-12T09:00:01.000Z';
const QUARANTINE: Quarantine = {
  consumers: null,
  by: 'operator:ada',
  reason: 'of a version that was rolled back',
  at: AT,
  until: null,
};
let book: TestBook;

beforeEach(async () => {
  book = new TestBook();
  await book.do(AT, { type: 'OpenBook', workspaceId: WS });
  await book.do(AT, { type: 'PurchasePack', pack: 'flex', orderRef: 'o1' });
});

const reserve = (id: string) =>
  book.do(AT, { type: 'ReserveCredits', reservationId: id, readingId: `reading-${id}`, amount: 20 });

/** Appends an entry that this program does not know. @param chain its chain value, as a newer program would write it */
const appendUnknown = async (chained = false): Promise<StoredEvent> => {
  const last = book.events.at(-1)!;
  const event = {
    id: 'odd',
    type: 'CreditsVanished',
    data: { amount: 7 },
    metadata: { ...last.metadata, chain: undefined as string | undefined },
  };
  const facts = chainedFacts({ ...event, stream: STREAM, revision: last.revision + 1n } as StoredEvent);
  if (chained) event.metadata.chain = nextChain(last.metadata.chain!, facts);
  else delete event.metadata.chain;
  await book.store.append(STREAM, last.revision, [event]);
  return book.events.at(-1)!;
};
const setAside = (event: StoredEvent): void => void Object.assign(event, { quarantine: QUARANTINE });
const stored = async function* () {
  yield* book.events;
};
const verify = () => {
  const verifier = new BookVerifier(STREAM);
  for (const event of book.events) verifier.see(event);
  return verifier.report();
};
const exported = async (format: 'csv' | 'jsonl' = 'jsonl') => {
  let text = '';
  const whole = new BookExport(STREAM, format, { from: null, to: null });
  for await (const part of whole.text(stored())) text += part;
  return text;
};
const verifiedOffline = async () => {
  const verifier = new Verifier();
  const lines = (await exported()).trimEnd().split('\n');
  lines.forEach((line, index) => verifier.line(line, index + 1));
  return verifier.result() as { ok: boolean; quarantined: string[]; findings: { message: string }[] };
};

describe('an entry of a book that cannot be read', () => {
  it('stops spending from this book, and is not passed over in silence by the view', async () => {
    await appendUnknown();
    await expect(reserve('r1')).rejects.toThrow(/CreditsVanished.*not an event of category credits/);
    expect(() => given(balanceProjection, book.events)).toThrow(/CreditsVanished/);
    const books = new CreditBooks(createCreditsExecutor(book.store), { now: () => Date.parse(AT) });
    await expect(books.current(WS)).rejects.toThrow(/CreditsVanished/);
    await expect(balanceAsOf(stored(), { revision: 9n })).rejects.toThrow(/CreditsVanished/);
    expect(await balanceAsOf(stored(), { revision: 1n })).toMatchObject({ available: 50 });
  });

  it('is shown as it is, and as a finding, by verify, export, statement and the offline verifier', async () => {
    await appendUnknown();
    expect(verify()).toMatchObject({
      firstBadRevision: 2n,
      findings: [
        { check: 'chain' },
        { check: 'event', message: 'cannot be read: not an event of category credits' },
      ],
      quarantined: [],
    });
    expect(await exported()).toContain(
      '"kind":"unreadable","revision":"2","eventId":"odd","type":"CreditsVanished"',
    );
    expect(await exported('csv')).toMatch(/^unreadable,2,.*CreditsVanished/m);
    const statement = await statementOf(WS, '2026-04', stored());
    expect(statement!.entries.at(-1)).toMatchObject({
      type: 'CreditsVanished',
      postings: [],
      unreadable: 'cannot be read: not an event of category credits',
    });
    expect(await verifiedOffline()).toMatchObject({
      ok: false,
      findings: [{ message: 'the entry CreditsVanished cannot be read: not an event of category credits' }],
    });
  });

  it.each([
    ['another program appended', false],
    ['a newer version wrote', true],
  ])('that %s is passed over once it is quarantined, and every report says so', async (_, chained) => {
    setAside(await appendUnknown(chained));
    await reserve('r1');
    expect(verify()).toMatchObject({
      events: 4,
      findings: [],
      quarantined: [{ revision: 2n, type: 'CreditsVanished', quarantine: { by: 'operator:ada' } }],
    });
    expect(await verifiedOffline()).toMatchObject({
      ok: true,
      findings: [],
      quarantined: ['revision 2 (CreditsVanished): operator:ada: of a version that was rolled back'],
    });
    expect((await statementOf(WS, '2026-04', stored()))!.entries.map(({ unreadable }) => unreadable)).toEqual(
      [undefined, undefined, 'quarantined by operator:ada: of a version that was rolled back', undefined],
    );
    expect(await balanceAsOf(stored(), { revision: 3n })).toMatchObject({ available: 30, held: 20 });
  });

  it('does not keep the other books from being reconciled', async () => {
    const odd = await appendUnknown();
    const reading = { ...odd, id: 'bad', stream: 'reading-r9', type: 'ReadingCompleted', data: 'no JSON' };
    const reconcile = () => {
      const reconciler = new Reconciler(null, new Map());
      for (const event of [...book.events, reading]) reconciler.see(event);
      return reconciler.report(0);
    };
    expect(reconcile().differences).toMatchObject([
      { kind: 'unreadable', workspaceId: WS, creditsEventId: 'odd', readingId: null },
      { kind: 'unreadable', workspaceId: WS, readingEventId: 'bad', readingId: 'r9' },
    ]);
    setAside(odd);
    setAside(reading);
    expect(reconcile()).toMatchObject({
      differences: [],
      quarantined: [{ type: 'CreditsVanished' }, { type: 'ReadingCompleted' }],
    });
  });
});

it('A deleted row of a book does not pass in silence: the book is parked', () => {
  expect(() => given(balanceProjection, book.events.slice(1))).toThrow('the row of this book is missing');
});
