import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { StoredEvent } from '#event-sourcing/core/event.js';
import { runVerifier } from '../../test/run-verifier.js';
import { BalanceAsOfHandler, MonthlyStatementHandler } from '../application/statements.js';
import { SealPeriodHandler } from '../application/verify-ledger.js';
import { GetBalanceAsOf, GetMonthlyStatement, SealPeriod, type AsOf } from '../contracts/index.js';
import { auditConfig, sealKeys } from '../../test/audit-config.js';
import { altered, eventfulBook, exportOf, rechained, TestBook, WS } from '../../test/book.js';

const KEYS = sealKeys();

let book: TestBook;
let folder: string;
beforeAll(async () => {
  book = await eventfulBook();
  folder = mkdtempSync(join(tmpdir(), 'seal-'));
});
afterAll(() => rmSync(folder, { recursive: true }));

const holding = async (events: readonly StoredEvent[]): Promise<TestBook['store']> => {
  const { store } = await eventfulBook();
  store.log.splice(0);
  await store.close();
  for (const event of events) {
    const expected = event.revision === 0n ? 'no_stream' : event.revision - 1n;
    await store.append(event.stream, expected, [event]);
  }
  return store;
};

const sealed = async (period = '2026-04', key = KEYS.privateKey) =>
  new SealPeriodHandler(book.store, auditConfig()).execute(new SealPeriod(WS, period, key));

const verifyWithSeal = async (events: readonly StoredEvent[], seal: object, publicKey = KEYS.publicKey) => {
  const [sealFile, keyFile] = [join(folder, 'seal.json'), join(folder, 'key.pem')];
  writeFileSync(sealFile, JSON.stringify(seal));
  writeFileSync(keyFile, publicKey);
  const options = ['--seal', sealFile, '--public-key', keyFile];
  const { status, result } = runVerifier(folder, await exportOf(events), options);
  return { status, ...result };
};

const sealOrFail = async (period?: string) => {
  const result = await sealed(period);
  if (result.outcome !== 'sealed') throw new Error(result.outcome);
  return result.seal;
};

describe('a seal', () => {
  it('is the same each time, matches its export, and no other key or content', async () => {
    const seal = await sealOrFail();
    expect(await sealOrFail()).toEqual(seal);
    expect(seal).toMatchObject({ workspaceId: WS, period: '2026-04', closing: { consumed: 20 } });
    expect(await verifyWithSeal(book.events, seal)).toMatchObject({ status: 0, sealedPeriods: ['2026-04'] });
    const changed = { ...seal, closing: { ...seal.closing, available: 1 } };
    expect((await verifyWithSeal(book.events, changed)).status).toBe(1);
    expect((await verifyWithSeal(book.events, seal, sealKeys().publicKey)).status).toBe(1);
  });

  it('catches a history that was rewritten with a whole new chain', async () => {
    const index = book.events.findIndex(({ type }) => type === 'CreditsAdjusted');
    const rewritten = rechained(book.events.with(index, altered(book.events[index]!, { reason: 'another' })));
    const seal = await sealOrFail();
    expect(await verifyWithSeal(rewritten, seal)).toMatchObject({
      status: 1,
      firstBadRevision: seal.revision,
      findings: [{ message: 'the sealed head hash is another: history was rewritten' }],
    });
  });

  it('is refused for an open month, another kind of key, or a book that does not verify', async () => {
    expect(await sealed('2026-06')).toEqual({ outcome: 'not_closed' });
    expect(await sealed('2026-04', 'no key')).toEqual({ outcome: 'not_an_ed25519_key' });
    const store = await holding(book.events.with(3, altered(book.events[3]!, { credits: 51 })));
    expect(
      await new SealPeriodHandler(store, auditConfig()).execute(
        new SealPeriod(WS, '2026-04', KEYS.privateKey),
      ),
    ).toEqual({ outcome: 'does_not_verify', firstBadRevision: 3n });
  });
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
