import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { spawnSync } from 'node:child_process';
import { generateKeyPairSync } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { StoredEvent } from '#event-sourcing/core/event.js';
import { projectPath } from '#platform/project-path.js';
import { decode } from '#event-sourcing/core/event-catalogue.js';
import { fold } from '#event-sourcing/core/decider.js';
import {
  BalanceAsOfHandler,
  ExportLedgerHandler,
  MonthlyStatementHandler,
} from '../application/statements.js';
import { SealPeriodHandler } from '../application/verify-ledger.js';
import {
  ExportLedger,
  GetBalanceAsOf,
  GetMonthlyStatement,
  SealPeriod,
  type AsOf,
  type MonthlyStatement,
} from '../contracts/index.js';
import { auditConfig } from '../../test/audit-config.js';
import { altered, eventfulBook, rechained, TestBook, WS, STREAM } from '../../test/book.js';
import { ACCOUNTS, creditsEvents, type Totals } from '../contracts/events.js';
import { balanceOf } from '../domain/postings.js';
import { credits } from '../domain/credits.decider.js';
import { noBook } from '../domain/credits.state.js';
import { adjustment } from '../../test/adjustment.js';
import { writeReading } from '../../test/readings.js';
import { BookExport } from './export-book.js';
import { Reconciler } from '../../test/reconciler.js';
import { BookVerifier } from './verify-book.js';

const pair = () =>
  generateKeyPairSync('ed25519', {
    privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
    publicKeyEncoding: { type: 'spki', format: 'pem' },
  });
const KEYS = pair();

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
  const [file, sealFile, keyFile] = ['book.jsonl', 'seal.json', 'key.pem'].map((name) => join(folder, name));
  const { text } = await new ExportLedgerHandler(await holding(events), auditConfig()).execute(
    new ExportLedger(WS, 'jsonl', { from: null, to: null }),
  );
  let whole = '';
  for await (const piece of text) whole += piece;
  writeFileSync(file!, whole);
  writeFileSync(sealFile!, JSON.stringify(seal));
  writeFileSync(keyFile!, publicKey);
  const args = [projectPath('tools/verify-ledger.mjs'), file!, '--seal', sealFile!, '--public-key', keyFile!];
  const { status, stdout } = spawnSync(process.execPath, [...args, '--json'], { encoding: 'utf8' });
  return { status, ...JSON.parse(stdout) };
};

const sealOrFail = async (period?: string) => {
  const result = await sealed(period);
  if (result.outcome !== 'sealed') throw new Error(result.outcome);
  return result.seal;
};

describe('a seal', () => {
  it('is the same each time, and matches its export', async () => {
    const seal = await sealOrFail();
    expect(await sealOrFail()).toEqual(seal);
    expect(seal).toMatchObject({ workspaceId: WS, period: '2026-04', closing: { consumed: 20 } });
    expect(await verifyWithSeal(book.events, seal)).toMatchObject({ status: 0, sealedPeriods: ['2026-04'] });
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

  it('is invalid when it was changed or signed with another key', async () => {
    const seal = await sealOrFail();
    const changed = { ...seal, closing: { ...seal.closing, available: 1 } };
    expect((await verifyWithSeal(book.events, changed)).status).toBe(1);
    expect((await verifyWithSeal(book.events, seal, pair().publicKey)).status).toBe(1);
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

describe('a year', () => {
  const MONTHS = Array.from({ length: 12 }, (_, index) => `2028-${String(index + 1).padStart(2, '0')}`);
  const MINUTE = 60_000;
  /** Every offset from UTC in use on Earth, in minutes. */
  const OFFSETS = [
    -720, -660, -600, -570, -540, -480, -420, -360, -300, -240, -210, -180, -120, -60, 0, 60, 120, 180, 210,
    240, 270, 300, 330, 345, 360, 390, 420, 480, 525, 540, 570, 600, 630, 660, 720, 765, 780, 840,
  ];

  type Step = readonly [at: number, what: (book: TestBook, at: string) => Promise<void>];
  const on = (day: string, command: Parameters<TestBook['do']>[1]): Step => [
    Date.parse(`2028-${day}Z`),
    (book, at) => book.do(at, command),
  ];

  const adjust = (adjustmentId: string, amount: number) => adjustment({ adjustmentId, amount });

  /**
   * A customer's purchases in the year: a plan from the 31st on, over the leap day, changed, cancelled, another, packs.
   */
  const BOUGHT: readonly Step[] = [
    on('01-31T08:00:00', { type: 'OpenBook', workspaceId: WS }),
    on('01-31T08:00:01', { type: 'SubscribeToPlan', plan: 'studio', approvalRef: null }),
    on('01-31T08:00:02', { type: 'PurchasePack', pack: 'burst', orderRef: 'o1' }),
    on('02-29T12:00:00', { type: 'PurchasePack', pack: 'flex', orderRef: 'leap' }),
    on('04-02T12:00:00', adjust('a1', 35)),
    on('05-02T12:00:00', adjust('a2', -15)),
    on('06-10T12:00:00', { type: 'SubscribeToPlan', plan: 'pro', approvalRef: null }),
    on('09-10T12:00:00', { type: 'CancelSubscription' }),
    on('09-12T12:00:00', { type: 'PurchasePack', pack: 'burst', orderRef: 'o3' }),
    on('10-05T12:00:00', { type: 'SubscribeToPlan', plan: 'access_local', approvalRef: 'AL-7' }),
    on('11-20T12:00:00', { type: 'PurchasePack', pack: 'burst', orderRef: 'o2' }),
  ];
  const PLAN_CREDITS = [400, 400, 400, 400, 400, 2_000, 2_000, 2_000, 0, 100, 100, 100];

  const reading = (id: string, from: number, to: number, fails: boolean): Step[] => [
    [
      from,
      (book, at) =>
        book.do(at, { type: 'ReserveCredits', reservationId: id, readingId: `reading-${id}`, amount: 20 }),
    ],
    [
      to,
      async (book, at) => {
        await writeReading(book.store, id, fails ? 'ReadingFailed' : 'ReadingCompleted', at);
        const type = fails ? 'ReleaseCredits' : 'CaptureCredits';
        await book.do(at, { type, reservationId: id, causeEventId: `end-${id}` });
      },
    ],
  ];

  /** Readings across each month's end in each time zone, lasting a second or an hour. Every third one fails. */
  const overMonthEnds = (): Step[] =>
    MONTHS.flatMap((month, index) =>
      OFFSETS.flatMap((offset, n) => {
        const midnight = Date.UTC(2028, index + 1, 1) - offset * MINUTE;
        const end = midnight + (n % 2) * 60 * MINUTE;
        return reading(`${month}/${offset}`, midnight - 1_000, end, n % 3 === 0);
      }),
    );

  /** Readings that fail after the grant that paid for them expired. */
  const LATE = ['2028-07-31', '2028-08-31'].flatMap((day) =>
    reading(day, Date.parse(day) - 1_000, Date.parse(day) + MINUTE, true),
  );

  let book: TestBook;
  let statements: MonthlyStatement[];
  beforeAll(async () => {
    book = new TestBook();
    const steps = [...BOUGHT, ...overMonthEnds(), ...LATE].sort(([a], [b]) => a - b);
    for (const [at, what] of steps) await what(book, new Date(at).toISOString());
    await book.do('2029-02-01T00:00:00.000Z', { type: 'RecordDue' });
    const handler = new MonthlyStatementHandler(book.store, { CLOCK_REFUSE_MS: 10_000 });
    statements = await Promise.all(
      MONTHS.map(async (month) => (await handler.execute(new GetMonthlyStatement(WS, month)))!),
    );
  });

  describe('a year of a customer', () => {
    it('has twelve closed statements, each opening with the closing balance of the one before', () => {
      expect(statements.map(({ closed }) => closed)).toEqual(MONTHS.map(() => true));
      for (const [index, { opening }] of statements.entries()) {
        expect(opening).toEqual(statements[index - 1]?.closing ?? noBook.opening);
      }
      const types = new Set(statements.flatMap(({ entries }) => entries.map(({ type }) => type)));
      // Only a crowded book closes its months in parts.
      expect(new Set([...types, 'PeriodCarried'])).toEqual(new Set(Object.keys(creditsEvents.definitions)));
    });

    it('grants the plan of each month once: on the 31st, the last day of shorter months, the leap day', () => {
      expect(statements.map(({ totals }) => totals['issued:plan'].debit)).toEqual(PLAN_CREDITS);
      const february = statements[1]!.entries.find(({ type }) => type === 'PlanGranted')!;
      expect(february.occurredAt.slice(0, 10)).toBe('2028-02-29');
    });

    it('lets credits expire that failed readings held beyond their month', () => {
      const late = statements
        .flatMap(({ entries }) => entries)
        .filter(
          ({ type, postings }) =>
            type === 'CreditsReleased' && postings.some(({ account }) => account === 'expired'),
        );
      expect(late).toHaveLength(LATE.length / 2);
    });

    it('verifies and reconciles without a difference', () => {
      const verifier = new BookVerifier(STREAM, 10_000);
      for (const event of book.events) verifier.see(event);
      expect(verifier.report().findings).toEqual([]);

      const events = book.events.map((event) => decode(creditsEvents, event));
      const row = { revision: events.at(-1)!.revision, balance: balanceOf(fold(credits, noBook, events)) };
      const reconciler = new Reconciler(null, new Map([[WS, row]]));
      for (const event of book.store.log) reconciler.see(event);
      const completed = 12 * OFFSETS.filter((_, n) => n % 3 !== 0).length;
      expect(reconciler.report(Infinity)).toMatchObject({ completed, captures: completed, differences: [] });
    });

    it.each(['Pacific/Kiritimati', 'Etc/GMT+12', 'Asia/Kathmandu'])(
      'has the totals that the offline verifier and a plain sum of its rows derive, also in %s',
      async (TZ) => {
        let text = '';
        const range = { from: null, to: null };
        for await (const piece of new BookExport(STREAM, 'jsonl', range, 10_000).text(stored()))
          text += piece;
        const byMonth = summedRows(text);
        expect(statements.map(({ totals }) => totals)).toEqual(byMonth.slice(0, 12));

        const folder = mkdtempSync(join(tmpdir(), 'year-'));
        const file = join(folder, 'book.jsonl');
        writeFileSync(file, text);
        const { stdout } = spawnSync(
          process.execPath,
          [projectPath('tools/verify-ledger.mjs'), file, '--json'],
          { encoding: 'utf8', env: { TZ } },
        );
        rmSync(folder, { recursive: true });
        const turnover = ACCOUNTS.map((account) => [
          account,
          byMonth.reduce((sum, totals) => sum + totals[account].credit - totals[account].debit, 0),
        ]);
        expect(JSON.parse(stdout)).toMatchObject({
          ok: true,
          balances: Object.fromEntries(turnover) as object,
        });
      },
    );
  });

  async function* stored() {
    yield* book.events;
  }

  /** Debits and credits of an export by month, derived only from its posting rows and the positions of `PeriodClosed`. */
  const summedRows = (text: string): Totals[] => {
    type Row = {
      kind: string;
      account: keyof Totals;
      debit: number;
      credit: number;
      facts?: { type: string };
    };
    const empty = () => Object.fromEntries(ACCOUNTS.map((account) => [account, { debit: 0, credit: 0 }]));
    const months = [empty()];
    for (const line of text.trimEnd().split('\n')) {
      const row = JSON.parse(line) as Row;
      if (row.kind === 'posting') {
        months.at(-1)![row.account]!.debit += row.debit;
        months.at(-1)![row.account]!.credit += row.credit;
      }
      if (row.facts?.type === 'PeriodClosed') months.push(empty());
    }
    return months as Totals[];
  };
});
