import { beforeEach, describe, expect, it } from '@jest/globals';
import { given } from '#event-sourcing/testing/projection-spec.js';
import { linesIn, verifyExport as verifyAlone } from '../../../../tools/verify-ledger.mjs';
import { appendUnknown, exportOf, setAside, STREAM, TestBook, WS } from '../../test/book.js';
import { CreditBooks } from '../application/credit-books.js';
import { createCreditsExecutor } from '../executors.js';
import { balanceProjection } from '../read-models/balance/balance.projection.js';
import { balanceAsOf } from './balance-as-of.js';
import { Reconciler } from './reconcile.js';
import { allowsSeal } from './seal.js';
import { statementOf } from './statement.js';
import { BookVerifier } from './verify-book.js';

const AT = '2026-04-12T09:00:01.000Z';
let book: TestBook;

beforeEach(async () => {
  book = new TestBook();
  await book.do(AT, { type: 'OpenBook', workspaceId: WS });
  await book.do(AT, { type: 'PurchasePack', pack: 'flex', orderRef: 'o1' });
});

const reserve = (id: string) =>
  book.do(AT, { type: 'ReserveCredits', reservationId: id, readingId: `reading-${id}`, amount: 20 });

const stored = async function* () {
  yield* book.events;
};
const verify = () => {
  const verifier = new BookVerifier(STREAM, 10_000);
  for (const event of book.events) verifier.see(event);
  return verifier.report();
};
const exported = (format: 'csv' | 'jsonl' = 'jsonl') => exportOf(book.events, format);
const verifiedOffline = async () => verifyAlone(linesIn([Buffer.from(await exported())]));

describe('an entry of a book that cannot be read', () => {
  it('stops spending from this book, and is not passed over in silence by the view', async () => {
    await appendUnknown(book, false);
    await expect(reserve('r1')).rejects.toThrow(/CreditsVanished.*not an event of category credits/);
    expect(() => given(balanceProjection, book.events)).toThrow(/CreditsVanished/);
    const books = new CreditBooks(createCreditsExecutor(book.store, 10_000), { now: () => Date.parse(AT) });
    await expect(books.current(WS)).rejects.toThrow(/CreditsVanished/);
    await expect(balanceAsOf(stored(), { revision: 9n }, 10_000)).rejects.toThrow(/CreditsVanished/);
    expect(await balanceAsOf(stored(), { revision: 1n }, 10_000)).toMatchObject({ available: 50 });
  });

  it('is shown as it is, and as a finding, by verify, export, statement and the offline verifier', async () => {
    await appendUnknown(book, false);
    expect(verify()).toMatchObject({
      firstBadRevision: 2n,
      findings: [
        { check: 'chain' },
        { check: 'event', message: 'cannot be read: not an event of category credits' },
      ],
      setAside: [],
    });
    expect(await exported()).toContain(
      '"kind":"unreadable","revision":"2","eventId":"odd","type":"CreditsVanished"',
    );
    expect(await exported('csv')).toMatch(/^unreadable,2,.*CreditsVanished/m);
    const statement = await statementOf(WS, '2026-04', stored(), 10_000);
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
  ])('that %s is passed over once it is set aside, and every report says so', async (_, chained) => {
    setAside(await appendUnknown(book, chained));
    await reserve('r1');
    expect(verify()).toMatchObject({
      events: 4,
      findings: [],
      setAside: [{ revision: 2n, type: 'CreditsVanished', setAside: { by: 'operator:ada' } }],
    });
    expect(await verifiedOffline()).toMatchObject({
      ok: true,
      findings: [],
      setAside: ['revision 2 (CreditsVanished) set aside by operator:ada: of a version that was rolled back'],
    });
    expect(
      (await statementOf(WS, '2026-04', stored(), 10_000))!.entries.map(({ unreadable }) => unreadable),
    ).toEqual([
      undefined,
      undefined,
      'set aside by operator:ada: of a version that was rolled back',
      undefined,
    ]);
    expect(await balanceAsOf(stored(), { revision: 3n }, 10_000)).toMatchObject({ available: 30, held: 20 });
  });

  it('is a finding while somebody hides it that could read it, and stays one when a month closes over it', async () => {
    await book.do(AT, { type: 'PurchasePack', pack: 'flex', orderRef: 'o2' });
    const hidden = book.events.at(-1)!;
    const reconcile = () => {
      const reconciler = new Reconciler(null, new Map());
      for (const event of book.events) reconciler.see(event);
      return reconciler.report(0).differences.filter(({ kind }) => kind === 'hidden');
    };
    expect([verify().findings, reconcile()]).toEqual([[], []]);
    setAside(hidden);
    const message = expect.stringMatching(/PackPurchased can be read, but.* set aside by operator:ada/);
    expect(verify().findings).toEqual([{ revision: 2n, check: 'event', message }]);
    expect(reconcile()).toMatchObject([{ workspaceId: WS, creditsEventId: hidden.id, message }]);
    const another = new CreditBooks(createCreditsExecutor(book.store, 10_000), {
      now: () => Date.parse('2026-05-01'),
    });
    const by = { actor: 'system:test', correlationId: 'c', causationId: 'c' };
    await another.execute(WS, (now) => ({ type: 'RecordDue', now }), 'due', by);
    expect(verify().findings).toEqual([{ revision: 2n, check: 'setAside', message }]);
    expect(verify().findings.every(allowsSeal)).toBe(true);
    expect(reconcile()).toEqual([]);
  });

  it('does not keep the other books from being reconciled', async () => {
    const odd = await appendUnknown(book, false);
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
      setAside: [{ type: 'CreditsVanished' }, { type: 'ReadingCompleted' }],
    });
  });
});

it('A deleted row of a book does not pass in silence: the book is parked', () => {
  expect(() => given(balanceProjection, book.events.slice(1))).toThrow('row of the book is missing');
});
