import { generateKeyPairSync } from 'node:crypto';
import { beforeEach, describe, expect, it } from '@jest/globals';
import type pg from 'pg';
import { ClockUntrusted } from '#event-sourcing/core/trusted-clock.js';
import { rechained, TestBook, WS } from '../../../test/book.js';
import {
  CloseMonth,
  ExportLedger,
  GetBalanceAsOf,
  GetMonthlyStatement,
  ReconcileLedger,
  SealPeriod,
  VerifyLedger,
} from '../../contracts/index.js';
import { CloseMonthHandler } from '../close-month/close-month.handler.js';
import { BalanceAsOfHandler } from './balance-as-of.handler.js';
import { ExportLedgerHandler } from './export-ledger.handler.js';
import { SealPeriodHandler } from './seal-period.handler.js';
import { MonthlyStatementHandler } from './monthly-statement.handler.js';
import { auditConfig } from '../../../test/audit-config.js';
import { ReconcileLedgerHandler } from './reconcile-ledger.handler.js';
import { VerifyLedgerHandler } from './verify-ledger.handler.js';

const PERIOD = '2026-04';
const IN_MAY = Date.parse('2026-05-01T00:00:05.000Z');
const KEY = generateKeyPairSync('ed25519').privateKey.export({ type: 'pkcs8', format: 'pem' }) as string;
let book: TestBook;
/** PostgreSQL's clock (ms). */
let serverNow: number;
let clock: { now: () => number };
const pool = {
  query: async (text: string) => ({ rows: text.includes('clock_timestamp') ? [{ now: serverNow }] : [] }),
} as unknown as pg.Pool;

beforeEach(async () => {
  serverNow = IN_MAY;
  clock = { now: () => serverNow };
  book = new TestBook();
  await book.do('2026-04-10T12:00:00.000Z', { type: 'OpenBook', workspaceId: WS });
  await book.do('2026-04-10T12:00:00.000Z', { type: 'PurchasePack', pack: 'flex', orderRef: 'o' });
  await book.do('2026-05-01T00:00:01.000Z', { type: 'RecordDue' });
});

const closeMonth = (bound = 10_000) => {
  const none = { execute: () => Promise.reject(new Error('nothing is due')) } as never;
  const config = auditConfig({ CLOCK_REFUSE_MS: bound });
  const handler = new CloseMonthHandler(none, none, book.store, pool, clock, config);
  return handler.execute(new CloseMonth(PERIOD, KEY, 60_000, 0, {} as never, () => null as never));
};

describe('An entry dated 15 s after its record', () => {
  beforeEach(() => {
    const [, bought] = book.events;
    Object.assign(bought!, { recordedAt: Date.parse(bought!.metadata.occurredAt) - 15_000 });
  });

  it.each([
    [10_000, 1],
    [20_000, 0],
  ])('is judged by CLOCK_REFUSE_MS, here %i ms, in every report', async (bound, misdated) => {
    const config = auditConfig({ CLOCK_REFUSE_MS: bound });
    const { books } = await new VerifyLedgerHandler(book.store, config).execute(new VerifyLedger(WS));
    expect(books[0]!.findings).toHaveLength(misdated);
    const statement = new MonthlyStatementHandler(book.store, config);
    const { notes } = (await statement.execute(new GetMonthlyStatement(WS, PERIOD)))!;
    expect(notes).toHaveLength(misdated);
    // Only the balance view, which is empty here, keeps the month open.
    expect(await closeMonth(bound)).toMatchObject({ outcome: 'not_right', problems: [] });
  });
});

describe('An entry dated after its record', () => {
  const DATED = Date.parse('2026-04-10T12:00:00.000Z');

  it.each([
    [10_000, 50],
    [20_000, 0],
  ])('counts from its record time beyond CLOCK_REFUSE_MS, here %i ms', async (bound, available) => {
    const config = auditConfig({ CLOCK_REFUSE_MS: bound });
    for (const event of book.events) Object.assign(event, { recordedAt: DATED - 15_000 });
    const instant = DATED - 10_000;
    const balance = new BalanceAsOfHandler(book.store, config);
    const seen = await balance.execute(new GetBalanceAsOf(WS, { instant }));
    expect(seen?.available ?? 0).toBe(available);
    const exporter = new ExportLedgerHandler(book.store, config);
    const { text, footer } = await exporter.execute(
      new ExportLedger(WS, 'jsonl', { from: null, to: instant }),
    );
    for await (const _ of text);
    expect(footer().closing.available).toBe(available);
  });

  it.each([
    [10_000, 'does_not_verify'],
    [40_000, 'sealed'],
  ])('keeps a month from its seal, or not, by CLOCK_REFUSE_MS, here %i ms', async (bound, outcome) => {
    // The month was closed 30 s too early; the next entry has its true date.
    const closed = book.events.find(({ type }) => type === 'PeriodClosed')!;
    Object.assign(closed, { recordedAt: Date.parse('2026-04-30T23:59:31.000Z') });
    await book.do('2026-05-31T12:00:00.000Z', { type: 'PurchasePack', pack: 'flex', orderRef: 'p' });
    const bought = book.events.at(-1)!;
    await book.do('2026-06-01T00:00:01.000Z', { type: 'RecordDue' });
    Object.assign(bought.metadata, { occurredAt: '2026-04-30T23:59:00.000Z' });
    for (const [index, { metadata }] of rechained(book.events).entries())
      Object.assign(book.events[index]!, { metadata });
    const handler = new SealPeriodHandler(book.store, auditConfig({ CLOCK_REFUSE_MS: bound }));
    expect(await handler.execute(new SealPeriod(WS, '2026-05', KEY))).toMatchObject({ outcome });
  });
});

describe('The end of a month and the grace', () => {
  it('are those of the server, whatever the machine of ops says', async () => {
    // Within the bound, so that the clock is trusted: this machine is 9 s ahead.
    clock = { now: () => serverNow + 9_000 };
    serverNow = Date.parse('2026-05-01T00:00:00.000Z') - 1;
    expect(await closeMonth()).toEqual({ outcome: 'not_over' });
    serverNow += 1;
    expect(await closeMonth()).not.toEqual({ outcome: 'not_over' });
    const handler = new ReconcileLedgerHandler(book.store, pool, clock, auditConfig());
    serverNow = Date.parse('2026-04-10T12:01:00.000Z');
    const reconcile = () => handler.execute(new ReconcileLedger(WS, 60_000));
    expect(await reconcile()).toMatchObject({ pending: [{ kind: 'balance_missing' }], differences: [] });
    serverNow += 1;
    expect(await reconcile()).toMatchObject({ pending: [], differences: [{ kind: 'balance_missing' }] });
  });

  it('are not known while the clocks differ', async () => {
    clock = {
      now: () => {
        throw new ClockUntrusted('the clock of this process is 40 days ahead');
      },
    };
    await expect(closeMonth()).rejects.toThrow(ClockUntrusted);
    const handler = new ReconcileLedgerHandler(book.store, pool, clock, auditConfig());
    await expect(handler.execute(new ReconcileLedger(WS, 60_000))).rejects.toThrow(ClockUntrusted);
  });
});
