import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { StoredEvent } from '#event-sourcing/core/event.js';
import { runVerifier } from '../../test/run-verifier.js';
import { parsedCsv } from '../../test/parsed-csv.js';
import { eventfulBook, type TestBook, altered, exportOf, rechained, WS } from '../../test/book.js';
import { linesIn, trustedKeys, verifyExport } from '../../../../tools/verify-ledger.mjs';
import { auditConfig, sealKeys } from '../../test/audit-config.js';
import { SealPeriodHandler } from '../application/verify-ledger.js';
import { SealPeriod } from '../contracts/index.js';

let book: TestBook;
let folder: string;
beforeAll(async () => {
  book = await eventfulBook();
  folder = mkdtempSync(join(tmpdir(), 'ledger-'));
});
afterAll(() => rmSync(folder, { recursive: true }));

const exported = async (
  events: readonly StoredEvent[],
  format: 'csv' | 'jsonl' = 'jsonl',
  { from = '', to = '' } = {},
): Promise<string> => {
  const range = { from: from ? Date.parse(from) : null, to: to ? Date.parse(to) : null };
  return exportOf(events, format, range);
};

const verifyFile = (text: string) => runVerifier(folder, text);

const lines = (text: string): Record<string, unknown>[] =>
  text
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as Record<string, unknown>);

describe('an export as JSON lines', () => {
  it('verifies from the file alone, with the balances of the book', async () => {
    const { status, stderr, result } = verifyFile(await exported(book.events));
    expect([status, stderr]).toEqual([0, '']);
    expect(result).toMatchObject({
      ok: true,
      events: book.events.length,
      headHash: book.events.at(-1)!.metadata.chain,
      balances: { 'issued:plan': -800, 'issued:pack': -50, adjusted: -2, held: 20, consumed: 20 },
      findings: [],
    });
  });

  it('of a part names its start, and continues the chain and the balances from there', async () => {
    const part = await exported(book.events, 'jsonl', { from: '2026-04-13', to: '2026-05-11T09:00:00Z' });
    const [header, ...rest] = lines(part);
    expect(header).toMatchObject({ firstRevision: '8', opening: { available: 430, consumed: 20 } });
    expect(rest.at(-1)).toMatchObject({ kind: 'footer', closing: { held: 20 } });
    expect(verifyFile(part)).toMatchObject({ status: 0, result: { firstRevision: '8' } });
  });
});

describe('an export as CSV', () => {
  it('opens cleanly: every record has every column, one per posting', async () => {
    const [head, ...records] = parsedCsv(await exported(book.events, 'csv'));
    expect(head!.slice(0, 5)).toEqual(['record', 'revision', 'line', 'occurred_at', 'event']);
    expect(records.filter((record) => record.length !== head!.length)).toEqual([]);
    const { postings } = verifyFile(await exported(book.events)).result;
    expect(records.filter(([kind]) => kind === 'posting')).toHaveLength(postings);
    expect(records.at(-1)).toEqual(expect.arrayContaining(['footer', book.events.at(-1)!.metadata.chain]));
  });

  it('lets no cell start a formula, and loses no text', async () => {
    const cells = parsedCsv(await exported(book.events, 'csv')).flat();
    expect(cells.filter((cell) => /^[=+\-@\t\r\n]/.test(cell))).toEqual([]);
    expect(cells).toContain('\'=HYPERLINK("http://evil","a, b")\nsecond line');
    expect(cells).toEqual(expect.arrayContaining(["'@INC-42", "'-5 because"]));
  });

  it('adds up: opening and totals make closing', async () => {
    const [head, ...records] = parsedCsv(await exported(book.events, 'csv', { from: '2026-05-01' }));
    const of = (kind: string) => records.filter(([record]) => record === kind);
    const balance = (record: string[]) =>
      Number(record[head!.indexOf('credit')]) - Number(record[head!.indexOf('debit')]);
    const sums = of('opening').map((record, index) => balance(record) + balance(of('total')[index]!));
    expect(sums).toEqual(of('closing').map(balance));
    expect(sums.some((sum) => sum !== 0)).toBe(true);
  });
});

describe('the export of a month', () => {
  const { privateKey, publicKey } = sealKeys();
  const keys = trustedKeys([Buffer.from(publicKey)]);

  let book: TestBook;
  beforeAll(async () => {
    book = await eventfulBook();
  });

  const sealOf = async (period: string) => {
    const result = await new SealPeriodHandler(book.store, auditConfig()).execute(
      new SealPeriod(WS, period, privateKey),
    );
    if (result.outcome !== 'sealed') throw new Error(result.outcome);
    return result.seal;
  };

  const verify = async (period: string, sealed = period, events: readonly StoredEvent[] = book.events) => {
    const text = await exportOf(events, 'jsonl', { period });
    return verifyExport(linesIn([Buffer.from(text)]), { seals: [await sealOf(sealed)], keys });
  };

  describe('the export of a month', () => {
    it.each(['2026-04', '2026-05'])(
      'verifies against its seal, balances and money too: %s',
      async (period) => {
        const { money } = await sealOf(period);
        expect(await verify(period)).toMatchObject({ ok: true, sealedPeriods: [period], money });
      },
    );

    it('does not verify against the seal of a later month, or of a history that was rewritten', async () => {
      expect((await verify('2026-04', '2026-05')).findings).toMatchObject([{ field: 'seal.period' }]);
      const index = book.events.findIndex(({ type }) => type === 'CreditsAdjusted');
      const rewritten = rechained(
        book.events.with(index, altered(book.events[index]!, { reason: 'another' })),
      );
      const { findings } = await verify('2026-04', '2026-04', rewritten);
      expect(findings.map(({ field }) => field)).toEqual(['seal.headHash']);
    });

    it('of an open month has its entries so far, and nothing of a month before the book', async () => {
      const open = await exportOf(book.events, 'jsonl', { period: '2026-06' });
      expect(verifyExport(linesIn([Buffer.from(open)]))).toMatchObject({ ok: true });
      expect(await exportOf(book.events, 'jsonl', { period: '2026-03' })).toBe('');
      expect(await exportOf(book.events, 'jsonl', { period: '2026-07' })).toBe('');
    });
  });

  describe('an export and several seals', () => {
    const check = async (seals: readonly object[], events = book.events, period?: string) => {
      const text = await exportOf(events, 'jsonl', period === undefined ? undefined : { period });
      return verifyExport(linesIn([Buffer.from(text)]), { seals, keys });
    };
    const both = async () => [await sealOf('2026-04'), await sealOf('2026-05')] as const;

    it('agree month by month, and all of them are listed', async () => {
      const seals = await both();
      const sealedPeriods = ['2026-04', '2026-05'];
      expect(await check(seals)).toMatchObject({ ok: true, sealedPeriods });
      expect(await check(seals, book.events, '2026-05')).toMatchObject({ ok: true, sealedPeriods });
    });

    it('do not agree when one month was rewritten, or one seal is not signed', async () => {
      const [april, may] = await both();
      const index = book.events.findIndex(
        ({ type, metadata }) => type === 'CreditsReserved' && metadata.occurredAt.startsWith('2026-05'),
      );
      const changed = altered(book.events[index]!, { readingId: 'another' });
      const rewritten = rechained(book.events.with(index, changed));
      const { findings, sealedPeriods } = await check([april, may], rewritten);
      expect(sealedPeriods).toEqual(['2026-04']);
      expect(findings).toContainEqual(
        expect.objectContaining({ field: 'seal.headHash', message: expect.stringMatching(/^2026-05: /) }),
      );
      expect(findings.filter(({ message }) => message.startsWith('2026-04'))).toEqual([]);
      const unsigned = { ...may, signature: april.signature };
      expect((await check([april, unsigned])).findings).toMatchObject([{ field: 'seal.signature' }]);
    });

    it('do not agree when the export lacks a sealed month, or there is no seal at all', async () => {
      const [april, may] = await both();
      const march = { ...april, period: '2026-03' };
      const fields = (await check([march, may])).findings.map(({ field }) => field);
      expect(fields).toEqual(['seal.signature', 'seal.period']);
      expect((await check([])).findings).toMatchObject([{ field: 'seal.workspaceId' }]);
      const later = [april, may].map((seal) => ({ ...seal, period: '2027-01' }));
      expect((await check(later)).findings).toContainEqual(expect.objectContaining({ field: 'seal.period' }));
    });
  });
});
