import { generateKeyPairSync } from 'node:crypto';
import { beforeAll, describe, expect, it } from '@jest/globals';
import type { StoredEvent } from '#event-sourcing/core/event.js';
import { InMemoryEventStore } from '#event-sourcing/testing/in-memory-event-store.js';
import type pg from 'pg';
import { altered, appendUnknown, eventfulBook, setAside, type TestBook } from '../../test/book.js';
import { writeReading } from '../../test/readings.js';
import { Reconciler } from '../../test/reconciler.js';
import type { BalanceRow } from '../audit/reconcile.js';
import { monthOfBooks, monthFiles, signedMonth } from '../audit/month.js';
import { LogAudit, type AuditTask, balanceRows } from './log-audit.js';

const PERIOD = '2026-05';
const { privateKey: key } = generateKeyPairSync('ed25519');
const CODES = { receivable: '1', deferred: '2', revenue: '3', breakage: '4', corrections: '5', refunds: '6' };
const WRONG = { available: 1, held: 2, consumed: 3, expired: 4, granted: 5, adjusted: 6 };

const workspaceOf = (n: number): string => `ws_${String(n * 7).padStart(22, '0')}`;

/** A log of several books and their readings, of which some are damaged. */
const damagedLog = async (): Promise<StoredEvent[]> => {
  const books: TestBook[] = [];
  for (const n of [4, 1, 3, 2, 5, 6]) books.push(await eventfulBook(workspaceOf(n)));
  await writeReading(books[0]!.store, 'r9', 'ReadingCompleted');
  await writeReading(books[1]!.store, 'r1', 'ReadingFailed');
  setAside(await appendUnknown(books[2]!, true, 'newer'));
  await appendUnknown(books[3]!, false, 'foreign');
  const log = books.flatMap(({ store }) => store.log);
  const changed = log.findIndex(({ stream, revision }) => stream.endsWith(workspaceOf(5)) && revision === 3n);
  return log.with(changed, altered(log[changed]!, { credits: 9 }));
};

let store: InMemoryEventStore;
beforeAll(async () => {
  store = new InMemoryEventStore();
  store.log.push(...(await damagedLog()).map((event, n) => ({ ...event, position: BigInt(n + 1) * 10n })));
});

const rows: ReadonlyMap<string, BalanceRow> = new Map([
  [workspaceOf(1), { revision: 3n, balance: WRONG }],
  [workspaceOf(3), { revision: 99n, balance: WRONG }],
]);
const task: AuditTask = { verify: { period: PERIOD, boundMs: 10_000 }, workspaceId: null, rows };

/** Everything that a month close writes or reports. */
const month = async () => {
  const audit = new LogAudit(store, task);
  await audit.read();
  const { verified, reconciliation, corrections } = await audit.result(Date.parse('2026-06-01T00:00:00Z'));
  const { books, problems, notes } = monthOfBooks(PERIOD, verified, [], key);
  const files = monthFiles(PERIOD, books, reconciliation, notes, CODES);
  const { json, signature } = signedMonth(PERIOD, books, reconciliation, notes, files, key);
  return { verified, reconciliation, corrections, problems, files, json: json.toString(), signature };
};

describe('an audit of the log', () => {
  it('finds what is wrong, and writes the books that are right', async () => {
    const whole = await month();
    expect(whole.corrections).not.toEqual([]);
    expect(whole.problems.length).toBeGreaterThan(1);
    expect(whole.reconciliation.differences.length).toBeGreaterThan(5);
    expect(whole.reconciliation.setAside).toHaveLength(1);
    expect(JSON.parse(whole.json)).toMatchObject({ books: 4 });
  });

  it('gives a book to continue only if nothing was found or passed over in it', async () => {
    const audit = new LogAudit(store, task);
    await audit.read();
    const folded = audit.folded(workspaceOf(1));
    expect(folded).toMatchObject({ workspaceId: workspaceOf(1), state: { period: '2026-06' } });
    expect(folded!.chain).toBe(
      store.log.findLast(({ stream }) => stream.endsWith(workspaceOf(1)))!.metadata.chain,
    );
    for (const n of [2, 3, 5, 9]) expect(audit.folded(workspaceOf(n))).toBeNull();
  });

  it('reads on where it ended, and reports how far it is', async () => {
    const grown = new InMemoryEventStore();
    grown.log.push(...store.log.slice(0, 20));
    const positions: [number, number][] = [];
    const audit = new LogAudit(grown, task);
    await audit.read((done, total) => positions.push([done, total]));
    grown.log.push(...store.log.slice(20));
    await audit.read((done, total) => positions.push([done, total]));
    const { verified } = await audit.result(0);
    expect(verified).toEqual((await month()).verified);
    expect(positions.at(0)).toEqual([200, 200]);
    expect(positions.at(-1)).toEqual([store.log.length * 10, store.log.length * 10]);
  });

  it('finds what follows after a reading was settled, although it forgets settled readings', async () => {
    const own = await eventfulBook();
    await writeReading(own.store, 'r1', 'ReadingCompleted');
    const isBook = ({ stream }: StoredEvent): boolean => stream.startsWith('credits-');
    const [reading, book] = [own.store.log.filter((event) => !isBook(event)), own.store.log.filter(isBook)];
    const capture = book.find(({ type }) => type === 'CreditsCaptured')!;
    const twice = { ...capture, id: 'twice', revision: 99n };
    const again = { ...reading.at(-1)!, id: 'again', revision: 2n };
    const workspaceId = workspaceOf(1);
    const elsewhere = {
      ...capture,
      id: 'elsewhere',
      stream: `credits-${workspaceId}`,
      metadata: { ...capture.metadata, workspaceId },
    };
    const log = [...reading, ...book, twice, again, elsewhere].map((event, n) => ({
      ...event,
      position: BigInt(n + 1),
    }));
    const all = new InMemoryEventStore();
    all.log.push(...log);
    all.read = async function* (stream) {
      yield* log.filter((event) => event.stream === stream);
    };
    const exact = new Reconciler(null, new Map());
    for (const event of log) exact.see(event);
    const whole = exact.report(0).differences;
    expect(whole.map(({ kind }) => kind)).toEqual(['captured_twice', 'completed_twice', 'captured_twice']);
    const audit = new LogAudit(all, { verify: null, workspaceId: null, rows: new Map() });
    await audit.read();
    expect((await audit.result(0)).reconciliation.differences).toEqual(whole);
  });
});

describe('the rows of the balance view', () => {
  const idOf = (n: number): string => `ws_${String(n).padStart(22, '0')}`;

  /** A balance view with so many books. Counts the queries. */
  const viewOf = (books: number) => {
    const calls: number[] = [];
    const figures = { revision: '9', available: '1', held: '2', consumed: '3', expired: '4', granted: '5' };
    const rows = Array.from({ length: books }, (_, n) => ({
      workspace_id: idOf(n),
      ...figures,
      adjusted: String(n),
    }));
    const query = async (_: string, [workspace, last, limit]: [string | null, string, number]) => {
      const found = rows
        .filter(({ workspace_id: id }) => (workspace === null || id === workspace) && id > last)
        .slice(0, limit);
      calls.push(found.length);
      return { rows: found };
    };
    return { pool: { query } as unknown as pg.Pool, calls };
  };

  it.each([
    [0, [0]],
    [999, [999]],
    [1_000, [1_000, 0]],
    [2_500, [1_000, 1_000, 500]],
  ])('reads %i books in pages of 1,000, one query each', async (books, pages) => {
    const { pool, calls } = viewOf(books);
    const rows = await balanceRows(pool, null);
    expect(calls).toEqual(pages);
    expect([...rows.keys()]).toEqual(Array.from({ length: books }, (_, n) => idOf(n)));
  });

  it('reads the row of one workspace', async () => {
    const { pool, calls } = viewOf(20);
    const rows = await balanceRows(pool, idOf(7));
    expect([...rows]).toEqual([
      [
        idOf(7),
        {
          revision: 9n,
          balance: { available: 1, held: 2, consumed: 3, expired: 4, granted: 5, adjusted: 7 },
        },
      ],
    ]);
    expect(calls).toEqual([1]);
  });
});
