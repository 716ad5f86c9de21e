import { generateKeyPairSync } from 'node:crypto';
import { beforeAll, describe, expect, it } from '@jest/globals';
import type { StoredEvent } from '#event-sourcing/core/event.js';
import { InMemoryEventStore } from '#event-sourcing/testing/in-memory-event-store.js';
import { CODES } from '../../test/audit-config.js';
import { altered, appendUnknown, eventfulBook, setAside, type TestBook } from '../../test/book.js';
import { writeReading } from '../../test/readings.js';
import { Reconciler, type BalanceRow } from '../audit/reconcile.js';
import { VerifiedBooks } from '../audit/verified-books.js';
import { monthOfBooks, monthFiles, signedMonth } from '../audit/month.js';
import { LogAudit } from './log-audit.js';

const PERIOD = '2026-05';
const { privateKey: key } = generateKeyPairSync('ed25519');
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
const auditOf = (log: InMemoryEventStore) => {
  const books = new VerifiedBooks(PERIOD, 10_000);
  return { books, audit: new LogAudit(log, new Reconciler(null, rows), books) };
};

/** Everything that a month close writes or reports. */
const month = async () => {
  const { books: verifiedBooks, audit } = auditOf(store);
  await audit.read();
  const [verified, { corrections }] = [verifiedBooks.result(), audit];
  const reconciliation = audit.reconciler.report(Date.parse('2026-06-01T00:00:00Z'));
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

  it('reads on where it ended, and reports how far it is', async () => {
    const grown = new InMemoryEventStore();
    grown.log.push(...store.log.slice(0, 20));
    const positions: [number, number][] = [];
    const { books, audit } = auditOf(grown);
    await audit.read((done, total) => positions.push([done, total]));
    grown.log.push(...store.log.slice(20));
    await audit.read((done, total) => positions.push([done, total]));
    expect(books.result()).toEqual((await month()).verified);
    expect(positions.at(0)).toEqual([200, 200]);
    expect(positions.at(-1)).toEqual([store.log.length * 10, store.log.length * 10]);
  });
});
