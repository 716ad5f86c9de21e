import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { runVerifier } from '../../test/run-verifier.js';
import { parsedCsv } from '../../test/parsed-csv.js';
import { eventfulBook, exportOf, type TestBook } from '../../test/book.js';
import { linesIn, verifyExport } from '../../../../tools/verify-ledger.mjs';

let book: TestBook;
let folder: string;
beforeAll(async () => {
  book = await eventfulBook();
  folder = mkdtempSync(join(tmpdir(), 'ledger-'));
});
afterAll(() => rmSync(folder, { recursive: true }));

const verifyFile = (text: string) => runVerifier(folder, text);

describe('an export as JSON lines', () => {
  it('verifies from the file alone, with the balances of the book', async () => {
    const { status, stderr, result } = verifyFile(await exportOf(book.events));
    expect([status, stderr]).toEqual([0, '']);
    expect(result).toMatchObject({
      ok: true,
      events: book.events.length,
      headHash: book.events.at(-1)!.metadata.chain,
      balances: { 'issued:plan': -800, 'issued:pack': -50, adjusted: -2, held: 20, consumed: 20 },
      findings: [],
    });
  });
});

describe('an export as CSV', () => {
  it('opens cleanly: every record has every column, one per posting', async () => {
    const [head, ...records] = parsedCsv(await exportOf(book.events, 'csv'));
    expect(head!.slice(0, 5)).toEqual(['record', 'revision', 'line', 'occurred_at', 'event']);
    expect(records.filter((record) => record.length !== head!.length)).toEqual([]);
    const { postings } = verifyFile(await exportOf(book.events)).result;
    expect(records.filter(([kind]) => kind === 'posting')).toHaveLength(postings);
    expect(records.at(-1)).toEqual(expect.arrayContaining(['footer', book.events.at(-1)!.metadata.chain]));
  });

  it('lets no cell start a formula, and loses no text', async () => {
    const cells = parsedCsv(await exportOf(book.events, 'csv')).flat();
    expect(cells.filter((cell) => /^[=+\-@\t\r\n]/.test(cell))).toEqual([]);
    expect(cells).toContain('\'=HYPERLINK("http://evil","a, b")\nsecond line');
    expect(cells).toEqual(expect.arrayContaining(["'@INC-42", "'-5 because"]));
  });

  it('adds up: opening and totals make closing', async () => {
    const [head, ...records] = parsedCsv(await exportOf(book.events, 'csv', '2026-05'));
    const of = (kind: string) => records.filter(([record]) => record === kind);
    const balance = (record: string[]) =>
      Number(record[head!.indexOf('credit')]) - Number(record[head!.indexOf('debit')]);
    const sums = of('opening').map((record, index) => balance(record) + balance(of('total')[index]!));
    expect(sums).toEqual(of('closing').map(balance));
    expect(sums.some((sum) => sum !== 0)).toBe(true);
  });
});

it('The export of an open month has its entries so far; there is none of a month before the book', async () => {
  const open = await exportOf(book.events, 'jsonl', '2026-06');
  expect(verifyExport(linesIn([Buffer.from(open)]))).toMatchObject({ ok: true });
  expect(await exportOf(book.events, 'jsonl', '2026-03')).toBe('');
  expect(await exportOf(book.events, 'jsonl', '2026-07')).toBe('');
});
