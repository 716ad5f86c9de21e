import { beforeAll, describe, expect, it } from '@jest/globals';
import { createPrivateKey } from 'node:crypto';
import { linesIn, trustedKeys, verifyExport, verifyMonth } from '../../../../tools/verify-ledger.mjs';
import { CODES, sealKeys } from '../../test/audit-config.js';
import { altered, eventfulBook, exportOf, openedBook, rechained, type TestBook } from '../../test/book.js';
import { isRaw, mutantsOfFile } from '../../test/mutated-files.js';
import { parsedCsv } from '../../test/parsed-csv.js';
import type { Reconciliation, MonthBook, MonthNote } from '../contracts/audit.js';
import type { StoredEvent } from '#event-sourcing/core/event.js';
import { journalCsv, monthOfBooks, monthFiles, signedMonth } from './month.js';
import { bookEvent } from './book-entry.js';
import { VerifiedBooks } from './verify-book.js';
import { handoverOf } from '../signatures.js';

const KEYS = sealKeys();
const key = createPrivateKey(KEYS.privateKey);
const trusted = trustedKeys([Buffer.from(KEYS.publicKey)]);
const PERIOD = '2026-05';
const RECONCILED: Reconciliation = {
  books: 5,
  captures: 5,
  completed: 5,
  differences: [],
  pending: [],
  setAside: [],
  compensated: [],
};

let written: TestBook[];
beforeAll(async () => {
  written = [];
  for (const n of [3, 1, 5, 2, 4]) written.push(await eventfulBook(`ws_${String(n).padStart(22, '0')}`));
});

const monthOf = (events: readonly StoredEvent[], period = PERIOD, by = key) => {
  const books = new VerifiedBooks(period, 10_000);
  // As in one log.
  events.forEach((event, index) => {
    const stored = { ...event, position: BigInt(index) };
    books.see(stored, bookEvent(stored));
  });
  return monthOfBooks(period, books.result(), [], by);
};

const sealed = (count = written.length): readonly MonthBook[] => {
  const { books, problems } = monthOf(written.slice(0, count).flatMap(({ events }) => events));
  expect(problems).toEqual([]);
  return books;
};

const filesOf = (
  books: readonly MonthBook[],
  by = key,
  notes: readonly MonthNote[] = [],
): Map<string, Buffer> => {
  const files = monthFiles(PERIOD, books, RECONCILED, notes, CODES);
  const { json, signature } = signedMonth(PERIOD, books, RECONCILED, notes, files, by);
  files.set('month.json', json).set('month.sig', Buffer.from(signature));
  return new Map([...files].map(([name, bytes]) => [name, Buffer.from(bytes)]));
};

const verify = (files: ReadonlyMap<string, Buffer>, keys = trusted) =>
  verifyMonth((name) => {
    const bytes = files.get(name);
    if (!bytes) throw new Error(name);
    return bytes;
  }, keys);

describe('a closed month of all books', () => {
  it.each([0, 1, 2, 5])('verifies offline with %i books', (count) => {
    const { result, seals } = verify(filesOf(sealed(count)));
    expect(result).toMatchObject({ ok: true, books: count, findings: [] });
    expect(seals).toHaveLength(count);
  });

  it('has the seal of each book’s export, and of no other history', async () => {
    const month = verify(filesOf(sealed(2)));
    const check = async (events: readonly StoredEvent[], period: string | null = PERIOD) =>
      verifyExport(linesIn([Buffer.from(await exportOf(events, 'jsonl', period))]), { month, keys: trusted });
    for (const { events } of written.slice(0, 2))
      for (const period of [PERIOD, null])
        expect(await check(events, period)).toMatchObject({ ok: true, sealedPeriods: [PERIOD] });
    expect((await check(written[2]!.events)).findings).toMatchObject([{ field: 'seal.workspaceId' }]);
    const { events } = written[0]!;
    expect((await check(events, '2026-04')).findings).toMatchObject([{ field: 'seal.period' }]);
    const index = events.findIndex(({ type }) => type === 'CreditsAdjusted');
    const rewritten = rechained(events.with(index, altered(events[index]!, { reason: 'another' })));
    expect((await check(rewritten)).findings.map(({ field }) => field)).toEqual(['seal.headHash']);
  });

  it('does not verify when anything in any file is another, and each finding names file, line and member', () => {
    const files = filesOf(sealed(3));
    const odd: object[] = [];
    for (const [name, bytes] of files)
      for (const changed of mutantsOfFile(bytes)) {
        const { findings } = verify(new Map(files).set(name, changed)).result;
        const isNamed = findings.every(
          ({ file, line, field, message }) =>
            file !== '' && (line > 0 || field === 'file') && /^[\w.:]+$/.test(field) && !isRaw(message),
        );
        if (findings.length === 0 || !isNamed) odd.push([name, changed.toString().slice(0, 80), findings]);
      }
    expect(odd).toEqual([]);
    const closing = Buffer.from(files.get('seals.jsonl')!.toString().replace('"closing":', '"cIosing":'));
    expect(verify(new Map(files).set('seals.jsonl', closing)).result.findings).toContainEqual({
      file: 'seals.jsonl',
      line: 1,
      field: 'closing',
      message: 'the member is missing or unknown',
    });
    const seals = files.get('seals.jsonl')!.toString().split('\n');
    const dropped = new Map(files).set('seals.jsonl', Buffer.from(seals.slice(1).join('\n')));
    expect(verify(dropped).result.findings.map(({ field }) => field)).toContain('merkleRoot');
    files.delete('journal.csv');
    expect(verify(files).result.findings).toMatchObject([{ file: 'journal.csv', field: 'file' }]);
  });

  it('verifies with a new key that the old one handed over to, and with no other', () => {
    const next = sealKeys();
    const files = filesOf(sealedBy(next.privateKey), createPrivateKey(next.privateKey));
    expect(verify(files).result.ok).toBe(false);
    const handover = handoverOf(key, next.publicKey);
    expect(verify(files, trustedKeys([Buffer.from(KEYS.publicKey)], [handover])).result.ok).toBe(true);
    const stranger = handoverOf(createPrivateKey(sealKeys().privateKey), next.publicKey);
    expect(() => trustedKeys([Buffer.from(KEYS.publicKey)], [stranger])).toThrow(/not signed/);
  });

  it('names a book that does not verify, or whose month is open, and seals the others', () => {
    expect(
      monthOf(
        written.slice(0, 2).flatMap(({ events }) => events),
        '2026-06',
      ),
    ).toMatchObject({
      books: [],
      problems: [{ message: 'the month 2026-06 is not closed' }, {}],
    });
    const [one, other] = written;
    expect(monthOf([...one!.events, ...other!.events.toSpliced(3, 1)])).toMatchObject({
      books: [{}],
      problems: [{ revision: 3n }],
    });
  });
});

describe('a book with a misdated entry', () => {
  it('is sealed with the clean ones, and the archive names the entry', () => {
    const [clean, other] = written;
    const held = other!.events.findIndex(({ type }) => type === 'CreditsReserved');
    const entry = other!.events[held]!;
    const recordedAt = Date.parse(entry.metadata.occurredAt) - 60_000;
    const misdated = other!.events.with(held, { ...entry, recordedAt });
    const { books, problems, notes } = monthOf([...clean!.events, ...misdated]);
    expect(problems).toEqual([]);
    expect(books).toHaveLength(2);
    const named = {
      workspaceId: other!.workspaceId,
      revision: entry.revision,
      message: expect.stringMatching(/^dated .*, but the store recorded it at /),
    };
    expect(notes).toEqual([named]);
    const files = filesOf(books, key, notes);
    expect(JSON.parse(files.get('notes.json')!.toString())).toMatchObject([
      { ...named, revision: String(entry.revision) },
    ]);
    expect(JSON.parse(files.get('month.json')!.toString())).toMatchObject({ notes: 1 });
    expect(verify(files).result).toMatchObject({ ok: true, books: 2 });
  });
});

const sealedBy = (privateKey: string): readonly MonthBook[] =>
  monthOf(
    written.flatMap(({ events }) => events),
    PERIOD,
    createPrivateKey(privateKey),
  ).books;

describe('the journal of a month', () => {
  it('dates a plan by the day it is valid from, although it was recorded in the next month', async () => {
    const book = await openedBook();
    await book.do('2026-04-20T12:00:00Z', { type: 'SubscribeToPlan', plan: 'studio', approvalRef: null });
    await book.do('2026-06-03T09:00:00Z', { type: 'RecordDue' });
    const journal = filesOf(monthOf(book.events).books).get('journal.csv')!.toString();
    const dates = parsedCsv(journal).flatMap((row) => (row[8] === 'plan sold' ? [row[1]] : []));
    expect(dates).toEqual(['2026-05-20', '2026-05-20']);
  });

  it('dates a pack in the month that recorded it, although a clock was ahead or behind', () => {
    const [book] = sealed(1);
    const sold = (at: string) => {
      const sale = { figure: 'sales', reference: 'pack:o1:flex', at, cents: 900 } as const;
      const [, row] = parsedCsv(journalCsv(PERIOD, [{ ...book!, items: [sale] }], CODES));
      return row![1];
    };
    expect(sold('2026-04-30T23:59:59.990Z')).toBe('2026-05-01');
    expect(sold('2026-05-07T12:00:00.000Z')).toBe('2026-05-07');
    expect(sold('2026-06-01T00:00:00.010Z')).toBe('2026-05-31');
  });

  it('has a trial balance whose totals are the sums of its rows', () => {
    const [, ...rows] = parsedCsv(filesOf(sealed()).get('trial-balance.csv')!.toString());
    for (const account of ['available', 'issued:plan', 'expired']) {
      const of = rows.filter(([, name]) => name === account);
      const sum = of.slice(0, -1).reduce((total, row) => total + Number(row[5]!.replace("'", '')), 0);
      expect(Number(of.at(-1)![5])).toBe(sum);
    }
  });
});
