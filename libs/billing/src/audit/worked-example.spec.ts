import { expect, it } from '@jest/globals';
import { generateKeyPairSync } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { projectPath } from '#platform/project-path.js';
import { linesIn, verifyExport } from '../../../../tools/verify-ledger.mjs';
import { CODES } from '../../test/audit-config.js';
import { exportOf, openedBook } from '../../test/book.js';
import { parsedCsv } from '../../test/parsed-csv.js';
import { journalCsv, monthOfBooks } from './month.js';
import { bookEvent } from './book-entry.js';
import { VerifiedBooks } from './verify-book.js';

/** The book of the worked example in docs/finance.md. Event ids of captures are replaced by the names of readings. */
const exampleBook = async () => {
  const book = await openedBook();
  const captures = new Map<string, string>();
  const read = async (day: string, reading: string): Promise<string> => {
    await book.reserve(`${day}T09:00:00Z`, reading, reading);
    await book.settle(`${day}T09:00:01Z`, 'CaptureCredits', reading);
    captures.set(book.events.at(-1)!.id, reading);
    return book.events.at(-1)!.id;
  };
  await book.do('2026-04-10T13:00:00Z', { type: 'PurchasePack', pack: 'sprint', orderRef: 'INV-7' });
  const bought = book.events.at(-1)!.id;
  const r1 = await read('2026-04-12', 'r1');
  await read('2026-04-12', 'r2');
  const refund = await book.correct('2026-04-13T09:00:00Z', {
    amount: -160,
    reversesEventId: bought,
    grantId: 'pack:INV-7:sprint',
  });
  await book.do('2026-04-20T09:00:00Z', { type: 'SubscribeToPlan', plan: 'studio', approvalRef: null });
  const r3 = await read('2026-04-21', 'r3');
  await book.do('2026-04-22T09:00:00Z', { type: 'CancelSubscription' });
  await book.correct('2026-05-02T09:00:00Z', { amount: 70, reversesEventId: refund });
  const refunded = await book.correct('2026-05-04T09:00:00Z', { amount: 20, reversesEventId: r1 });
  const grantId = `adjustment:${(book.events.at(-1)!.data as { adjustmentId: string }).adjustmentId}`;
  await book.correct('2026-05-25T09:00:00Z', { amount: 20, reversesEventId: r3 });
  await book.correct('2026-06-03T09:00:00Z', { amount: -20, reversesEventId: refunded, grantId });
  await book.correct('2026-06-10T09:00:00Z', { amount: -50 });
  await book.do('2026-07-01T09:00:00Z', { type: 'RecordDue' });
  return { book, captures };
};

/** Cells of the tables between the heading and the next one. */
const tablesOf = (heading: string): string[][] =>
  readFileSync(projectPath('docs/finance.md'), 'utf8')
    .split(`### ${heading}\n`)[1]!
    .split('\n#')[0]!
    .split('\n')
    .filter((line) => /^\| (\d|`)/.test(line))
    .map((line) =>
      line
        .split('|')
        .slice(1, -1)
        .map((cell) => cell.trim().replaceAll('`', '')),
    );

it('The worked example of the docs is what the journal and the money of each month say', async () => {
  const { book, captures } = await exampleBook();
  const { privateKey } = generateKeyPairSync('ed25519');
  const rows: string[][] = [];
  for (const period of ['2026-04', '2026-05', '2026-06']) {
    const verified = new VerifiedBooks(period, 10_000);
    for (const event of book.events) verified.see(event, bookEvent(event));
    const { books, problems } = monthOfBooks(period, verified.result(), [], privateKey);
    expect(problems).toEqual([]);
    const [, ...lines] = parsedCsv(journalCsv(period, books, CODES));
    for (let at = 0; at < lines.length; at += 2) {
      const [debit, credit] = [lines[at]!, lines[at + 1]!];
      const of = captures.get(debit[7]!) ?? debit[7]!;
      rows.push([debit[1]!, debit[8]!, debit[2]!, credit[2]!, (Number(debit[3]) / 100).toFixed(2), of]);
    }
    const { money } = books[0]!.seal;
    const { opening, sales, earned, breakage, corrections, refunds, closing } = money;
    rows.push([
      period,
      ...[opening, sales, earned, breakage, corrections, refunds, closing].map((cents) =>
        (cents / 100).toFixed(2),
      ),
    ]);
  }
  const documented = tablesOf('A worked example');
  expect(rows.filter(({ length }) => length === 6)).toEqual(documented.filter(({ length }) => length === 6));
  expect(rows.filter(({ length }) => length === 8)).toEqual(documented.filter(({ length }) => length === 8));
  const alone = verifyExport(linesIn([Buffer.from(await exportOf(book.events))]));
  expect(alone).toMatchObject({ ok: true, money: { refunds: 4_455, earned: 1_980, closing: 1_735 } });
});
