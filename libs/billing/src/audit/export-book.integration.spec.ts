import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { sealKeys } from '../../test/audit-config.js';
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

it('A CSV, and a line that is another, are reported with line and field', async () => {
  const jsonl = (await exportOf(book.events)).trimEnd().split('\n');
  const index = jsonl.findIndex((line) => line.includes('"kind":"posting","revision":"3"'));
  const changed = jsonl.with(index, jsonl[index]!.replace('"debit":', '"debit":999,"debit":'));
  for (const [text, line, field] of [
    [await exportOf(book.events, 'csv'), 1, 'kind'],
    [`${changed.join('\n')}\n`, index + 1, 'debit'],
  ] as const)
    expect(verifyFile(text)).toMatchObject({
      status: 1,
      stderr: '',
      result: { findings: [{ line, field }] },
    });
});

it.each(['Pacific/Kiritimati', 'Etc/GMT+12'])('The auditor’s file derives the same in %s', async (TZ) => {
  const text = await exportOf(book.events);
  const run = (env: object) => runVerifier(folder, text, [], env).result;
  expect(run({ TZ })).toEqual(run({}));
});

it('A file beside the export that is faulty or missing is named, with the line and the member', async () => {
  const text = await exportOf(book.events);
  const file = (name: string, content: string): string => {
    writeFileSync(join(folder, name), content);
    return join(folder, name);
  };
  const handover = { format: 'credit-ledger-key/1', previousKeySha256: 'a', publicKey: 'b', signature: 'c' };
  const { publicKey } = sealKeys();
  const said = (key: string, ...more: readonly string[]) =>
    runVerifier(folder, text, ['--month', '/none', '--public-key', file('key', key), ...more]);
  const runs = [
    [said('no key'), /\/key, line 1, publicKey: this is no public key/],
    [said(publicKey, '--handover', file('handover', '{')), /\/handover, line 1, text: this is not JSON/],
    [
      said(publicKey, '--handover', file('handover', `${JSON.stringify(handover, null, 2)}\n`)),
      /\/handover, line 3, previousKeySha256: the handover names a key that is not trusted/,
    ],
    [said(publicKey), /^There is no file \/none\/month.json\.\n$/],
  ] as const;
  for (const [{ status, stderr }, message] of runs) {
    expect(status).toBe(1);
    expect(stderr).toMatch(message);
  }
});
