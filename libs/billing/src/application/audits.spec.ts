import { expect, it, beforeEach, describe } from '@jest/globals';
import { createPrivateKey } from 'node:crypto';
import type pg from 'pg';
import { ClockUntrusted } from '#event-sourcing/core/clock.js';
import { auditConfig, sealKeys } from '../../test/audit-config.js';
import { WS, rechained, TestBook } from '../../test/book.js';
import { CloseMonth, ReconcileLedger, VerifyLedger } from '../contracts/index.js';
import { VerifyLedgerHandler, ReconcileLedgerHandler } from './audits.js';
import { CorrectionOffice } from '../../test/correction-office.js';
import { CloseMonthHandler } from './close-month.js';
import { adjustment } from '../../test/adjustment.js';
import { ada, eve, OPERATORS, signedCommand } from '../../test/operators.js';

const KEY = createPrivateKey(sealKeys().privateKey);
describe('corrections that no two operators signed', () => {
  const UNSIGNED = 'no two operators signed this entry';
  const FORGED = 'the signature of grace does not fit this entry';
  const pool = {
    query: async (text: string) => ({ rows: text.includes('clock_timestamp') ? [{ now: office.now }] : [] }),
  } as unknown as pg.Pool;
  const BY = { actor: 'system:attacker', correlationId: 'c', causationId: 'c' };
  let office: CorrectionOffice;

  /** A signed correction, one that nobody signed, and one that only its proposer did. */
  beforeEach(async () => {
    office = await CorrectionOffice.open();
    await office.correct('c1', { amount: 20 });
    await office.bookUnsigned('ws_1', 500);
    const asked = adjustment({ adjustmentId: 'forged', amount: 9, reference: 'INC-1' });
    const command = { ...signedCommand('ws_1', asked, [ada, eve]), now: office.now };
    await office.process().credits.execute('ws_1', () => command, 'forged', BY);
  });

  const verify = (workspaceId: string | null, operators = OPERATORS) =>
    new VerifyLedgerHandler(office.store, { ...office.config, OPERATORS: operators }).execute(
      new VerifyLedger(workspaceId),
    );

  it('ledger verify says in one finding that it knows no operators', async () => {
    expect((await verify(null, [])).corrections).toMatchObject([
      { message: expect.stringMatching(/^OPERATORS is not set here, .*: 3 findings$/) },
    ]);
  });

  it('ledger reconcile and the worker’s reconciliation find them', async () => {
    const handler = new ReconcileLedgerHandler(office.store, pool, office.clock, auditConfig(office.config));
    const { differences } = await handler.execute(new ReconcileLedger(null, 60_000));
    expect(differences.filter(({ kind }) => kind === 'correction')).toMatchObject([
      { workspaceId: 'ws_1', message: `credits-ws_1@2: ${UNSIGNED}` },
      { workspaceId: 'ws_1', message: `credits-ws_1@3: ${FORGED}` },
    ]);
  });
});

describe('wrong clocks', () => {
  const PERIOD = '2026-04';
  const IN_MAY = Date.parse('2026-05-01T00:00:05.000Z');
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
    const none = { recordDue: () => Promise.reject(new Error('nothing is due')) } as never;
    const config = auditConfig({ CLOCK_REFUSE_MS: bound });
    const handler = new CloseMonthHandler(none, book.store, pool, clock, config);
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
    ])(
      'is judged by CLOCK_REFUSE_MS, here %i ms, and keeps no month from its seal',
      async (bound, misdated) => {
        const config = auditConfig({ CLOCK_REFUSE_MS: bound });
        const { books } = await new VerifyLedgerHandler(book.store, config).execute(new VerifyLedger(WS));
        expect(books[0]!.findings).toHaveLength(misdated);
        // Only the balance view, which is empty here, keeps the month open.
        expect(await closeMonth(bound)).toMatchObject({ outcome: 'not_right', problems: [] });
      },
    );
  });

  describe('An entry dated after its record', () => {
    it.each([
      [10_000, ['date']],
      [40_000, []],
    ])('keeps a month from its seal, or not, by CLOCK_REFUSE_MS, here %i ms', async (bound, checks) => {
      // The month was closed 30 s too early; the next entry has its true date.
      const closed = book.events.find(({ type }) => type === 'PeriodClosed')!;
      Object.assign(closed, { recordedAt: Date.parse('2026-04-30T23:59:31.000Z') });
      await book.do('2026-05-31T12:00:00.000Z', { type: 'PurchasePack', pack: 'flex', orderRef: 'p' });
      const bought = book.events.at(-1)!;
      await book.do('2026-06-01T00:00:01.000Z', { type: 'RecordDue' });
      Object.assign(bought.metadata, { occurredAt: '2026-04-30T23:59:00.000Z' });
      for (const [index, { metadata }] of rechained(book.events).entries())
        Object.assign(book.events[index]!, { metadata });
      const handler = new VerifyLedgerHandler(book.store, auditConfig({ CLOCK_REFUSE_MS: bound }));
      const { books } = await handler.execute(new VerifyLedger(WS));
      expect(books[0]!.findings.map(({ check }) => check).filter((one) => one !== 'clock')).toEqual(checks);
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
});
