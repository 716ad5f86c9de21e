import { beforeEach, describe, expect, it } from '@jest/globals';
import { TestBook, WS } from '../../test/book.js';
import { eventsOfReading, writeReading } from '../../test/readings.js';
import { type BalanceRow, Reconciler } from './reconcile.js';

const AT = '2026-04-12T09:00:01.000Z';
const BALANCE = { available: 10, held: 0, consumed: 40, expired: 0, granted: 50, adjusted: 0 };
let book: TestBook;

beforeEach(async () => {
  book = new TestBook();
  await book.do(AT, { type: 'OpenBook', workspaceId: WS });
  await book.do(AT, { type: 'PurchasePack', pack: 'flex', orderRef: 'o1' });
  for (const id of ['r1', 'r2']) await book.reserve(AT, id);
});

const capture = (id: string, cause?: string) => book.settle(AT, 'CaptureCredits', id, cause);
const idOfCapture = (index: number) =>
  book.events.filter(({ type }) => type === 'CreditsCaptured')[index]!.id;

const reconcile = (
  row: Partial<BalanceRow> | null,
  settledBefore = Infinity,
  workspaceId: string | null = null,
) => {
  const rows = new Map(row ? [[WS, { revision: 5n, balance: BALANCE, ...row }]] : []);
  const reconciler = new Reconciler(workspaceId, rows);
  for (const event of book.store.log) reconciler.see(event);
  return reconciler.report(settledBefore);
};

/** After the first reservation. */
const AT_FIRST = { available: 30, held: 20, consumed: 0, expired: 0, granted: 50, adjusted: 0 };

describe('rows of the view that are newer than the reading', () => {
  /** The book was read up to its third entry; then the row was read again, and the rest of the book. */
  const refreshed = (row: BalanceRow) => {
    const part = new Reconciler(null, new Map([[WS, { revision: 1n, balance: BALANCE }]]));
    for (const event of book.events.slice(0, 3)) part.see(event);
    part.refresh(new Map([[WS, row]]));
    for (const event of book.events.slice(3)) part.see(event);
    return part.report(Infinity).differences;
  };

  it('count when they have reached what was read', () => {
    expect(refreshed({ revision: 2n, balance: AT_FIRST })).toMatchObject([{ kind: 'balance_behind' }]);
    const held = { ...AT_FIRST, available: 10, held: 40 };
    expect(refreshed({ revision: 3n, balance: held })).toEqual([]);
    expect(refreshed({ revision: 3n, balance: { ...held, held: 41 } })).toMatchObject([
      { kind: 'balance_differs', message: expect.stringContaining('held 41, not 40') },
    ]);
  });

  it('do not when they are still behind: the earlier row was compared', () => {
    const found = refreshed({ revision: 0n, balance: AT_FIRST });
    expect(found.map(({ kind }) => kind)).toEqual(['balance_differs', 'balance_behind']);
    expect(found[1]!.message).toMatch(/at revision 1, the book is at 3/);
  });
});

describe('the readings of the other mode', () => {
  const metadata = { actor: 'a', correlationId: 'c', causationId: 'c', workspaceId: WS, occurredAt: AT };
  const append = (revision: bigint | 'no_stream', type: string, data: object, schemaVersion: number) => {
    const event = { id: `test ${type}`, type, data, metadata: { ...metadata, schemaVersion } };
    return book.store.append('reading-test', revision, [event]);
  };
  const request = {
    ...{ workspaceId: WS, livemode: false, reservationId: 't1', cost: 20, sealedInput: '' },
    ...{ productId: 'theme', profileId: 'evan', locale: 'fr-FR', asOf: '2026-04-12' },
  };
  const completed = { workspaceId: WS, livemode: false, attempt: 1, reservationId: 't1', sealedResult: '' };
  const kinds = (livemode: boolean) => {
    const reconciler = new Reconciler(null, new Map(), livemode);
    for (const event of book.store.log) reconciler.see(event);
    return reconciler.report(Infinity).differences.map(({ kind: found }) => found);
  };

  it('are not seen, completed or unreadable', async () => {
    await append('no_stream', 'ReadingRequested', request, 1);
    await append(0n, 'ReadingStarted', { of: 'no version' }, 1);
    await append(1n, 'ReadingCompleted', completed, 1);
    await append(2n, 'ReadingFailed', { livemode: false, of: 'no version' }, 1);
    expect(kinds(true)).toEqual(['balance_missing']);
    expect(kinds(false)).toEqual(['unreadable', 'unreadable', 'not_captured']);
  });
});

describe('reconciling', () => {
  it('finds no difference when every capture has its reading and the view its balance', async () => {
    for (const id of ['r1', 'r2']) {
      await writeReading(book.store, id, 'ReadingCompleted');
      await capture(id);
    }
    expect(reconcile({})).toEqual({
      books: 1,
      captures: 2,
      completed: 2,
      differences: [],
      pending: [],
      setAside: [],
      compensated: [],
    });
    expect(reconcile({}, Infinity, WS)).toMatchObject({ captures: 2, differences: [] });
    expect(reconcile({}, Infinity, 'ws_other')).toMatchObject({ books: 0, captures: 0, completed: 0 });
  });

  it('compares the view at the revision it has reached', () => {
    // Events after that revision are younger than the grace.
    const young = Date.parse(AT);
    expect(reconcile({ revision: 2n, balance: AT_FIRST }, young).differences).toEqual([]);
    expect(reconcile({ revision: 2n, balance: { ...AT_FIRST, held: 21 } }, young).differences).toMatchObject(
      [{ kind: 'balance_differs', creditsEventId: book.events[2]!.id, message: /held 21, not 20/ }].map(
        (one) => ({ ...one, message: expect.stringMatching(one.message) }),
      ),
    );
    expect(reconcile({ revision: 9n, balance: AT_FIRST }).differences).toMatchObject([
      { kind: 'balance_differs' },
    ]);
    expect(reconcile(null).differences).toMatchObject([{ kind: 'balance_missing' }]);
  });

  it('finds a view that has stopped, by the oldest event that it has not applied', async () => {
    const row = { revision: 2n, balance: AT_FIRST };
    const later = '2026-04-12T10:00:00.000Z';
    await book.do(later, { type: 'PurchasePack', pack: 'flex', orderRef: 'much later' });
    const behind = [
      {
        kind: 'balance_behind',
        workspaceId: WS,
        creditsEventId: book.events[3]!.id,
        message: `the balance view is at revision 2, the book is at 4 and continued at ${AT}`,
      },
    ];
    expect(reconcile(row, Date.parse(AT))).toMatchObject({ differences: [], pending: behind });
    expect(reconcile(row, Date.parse(AT) + 1)).toMatchObject({ differences: behind, pending: [] });
  });

  it('names both events of a mismatch', async () => {
    await writeReading(book.store, 'r1', 'ReadingFailed');
    await capture('r1');
    await writeReading(book.store, 'r2', 'ReadingCompleted', AT, 30);
    await capture('r2', 'another event');
    expect(reconcile({}).differences).toMatchObject([
      {
        kind: 'not_completed',
        readingId: 'reading-r1',
        creditsEventId: idOfCapture(0),
        readingEventId: 'end-r1',
      },
      { kind: 'fields_differ', creditsEventId: idOfCapture(1), readingEventId: 'end-r2' },
      { kind: 'fields_differ', message: '20 credits were captured, the reading costs 30' },
    ]);
  });

  it('finds what follows after a reading was settled, in the order of the log', async () => {
    await writeReading(book.store, 'r1', 'ReadingCompleted');
    await capture('r1');
    const [completed, captured] = [book.store.log.at(-2)!, book.events.at(-1)!];
    const workspaceId = 'ws_other';
    const metadata = { ...captured.metadata, workspaceId };
    const elsewhere = { ...captured, id: 'elsewhere', stream: `credits-${workspaceId}`, metadata };
    const reconciler = new Reconciler(null, new Map());
    for (const [n, event] of [
      ...book.store.log,
      { ...captured, id: 'twice' },
      { ...completed, id: 'again' },
      elsewhere,
    ].entries())
      reconciler.see({ ...event, position: BigInt(n) });
    const byCapture = { readingEventId: 'end-r1', message: expect.stringContaining(captured.id) };
    expect(reconciler.report(0).differences).toMatchObject([
      { kind: 'captured_twice', creditsEventId: 'twice', ...byCapture },
      { kind: 'completed_twice', readingEventId: 'again' },
      { kind: 'captured_twice', creditsEventId: 'elsewhere', workspaceId, ...byCapture },
    ]);
  });

  it('misses the capture of a completed reading, also after another reservation of it was abandoned', async () => {
    await writeReading(book.store, 'r1', 'ReadingCompleted');
    const [abandoned] = eventsOfReading('r9', 'ReadingAbandoned');
    await book.store.append('reading-reading-r1', 1n, [abandoned!]);
    const row = { revision: 3n, balance: { ...AT_FIRST, available: 10, held: 40 } };
    expect(reconcile(row).differences).toMatchObject([{ kind: 'not_captured', readingEventId: 'end-r1' }]);
  });

  it('waits for the capture of a reading that was completed a moment ago', async () => {
    await writeReading(book.store, 'r1', 'ReadingCompleted');
    const row = { revision: 3n, balance: { ...AT_FIRST, available: 10, held: 40 } };
    expect(reconcile(row, Date.parse(AT))).toMatchObject({
      differences: [],
      pending: [{ kind: 'not_captured', readingEventId: 'end-r1' }],
    });
    expect(reconcile(row, Date.parse(AT) + 1)).toMatchObject({
      differences: [{ kind: 'not_captured', readingEventId: 'end-r1', creditsEventId: null }],
      pending: [],
    });
  });
});
