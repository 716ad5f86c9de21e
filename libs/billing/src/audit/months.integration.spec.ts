import { beforeAll, describe, expect, it } from '@jest/globals';
import { BalanceAsOfHandler, MonthlyStatementHandler } from '../application/statements.js';
import { GetBalanceAsOf, GetMonthlyStatement, type AsOf } from '../contracts/index.js';
import { auditConfig } from '../../test/audit-config.js';
import { eventfulBook, type TestBook, WS } from '../../test/book.js';

let book: TestBook;
beforeAll(async () => {
  book = await eventfulBook();
});

describe('a monthly statement', () => {
  const statement = async (period: string) =>
    new MonthlyStatementHandler(book.store, auditConfig()).execute(new GetMonthlyStatement(WS, period));

  it('opens with the closing balance of the month before, and has every movement once', async () => {
    const months = await Promise.all(['2026-04', '2026-05', '2026-06'].map(statement));
    expect(months.map((month) => month!.closed)).toEqual([true, true, false]);
    expect(months[1]!.opening).toEqual(months[0]!.closing);
    expect(months[2]!.opening).toEqual(months[1]!.closing);
    const revisions = months.flatMap((month) => month!.entries.map(({ revision }) => revision));
    expect(revisions).toEqual(book.events.map(({ revision }) => revision));
    expect(await statement('2026-03')).toBeNull();
    expect(await statement('2026-07')).toBeNull();
  });

  it('adds up grant by grant to the available credits', async () => {
    for (const period of ['2026-04', '2026-05', '2026-06']) {
      const { grants, closing } = (await statement(period))!;
      expect(grants.reduce((sum, grant) => sum + grant.closing, 0)).toBe(closing.available);
    }
  });
});

describe('a past balance', () => {
  const asOf = (at: AsOf) =>
    new BalanceAsOfHandler(book.store, auditConfig()).execute(new GetBalanceAsOf(WS, at));
  const instant = (text: string): AsOf => ({ instant: Date.parse(text) });

  it('is folded to a revision or an instant, with the expiries up to then', async () => {
    expect(await asOf({ revision: 3n })).toMatchObject({ available: 450, held: 0 });
    expect(await asOf(instant('2026-04-12T09:00:00Z'))).toMatchObject({ available: 410, held: 40 });
    expect(await asOf(instant('2026-05-09T23:59:59.999Z'))).toMatchObject({ expired: 0, held: 20 });
    expect((await asOf(instant('2026-05-10T00:00:00Z')))!.expired).toBeGreaterThan(0);
    expect(await asOf(instant('2026-04-01T00:00:00Z'))).toBeNull();
  });
});
