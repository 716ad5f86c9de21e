import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { QueryBus } from '@nestjs/cqrs';
import pg from 'pg';
import { IdleBooks } from '#billing/application/record-due.js';
import { ScheduledReconciliation } from '#billing/application/reconcile-ledger.js';
import {
  type AsOf,
  ExplainReading,
  ExportLedger,
  GetBalance,
  GetCredits,
  GetLedger,
  GetBalanceAsOf,
  GetMonthlyStatement,
  PurchasePack,
  ReconcileLedger,
  SubscribeToPlan,
  VerifyLedger,
} from '#billing/contracts/index.js';
import type { Mode } from '#event-sourcing/core/request-context.js';
import { freshDatabase } from '../../../test/support/fresh-database.js';
import { BY, START, WS, startWorker } from './start-worker.js';

const never = new AbortController().signal;

let postgres: Awaited<ReturnType<typeof freshDatabase>>;
let pool: pg.Pool;
beforeAll(async () => {
  postgres = await freshDatabase();
  pool = new pg.Pool({ connectionString: postgres.databaseUrl, max: 4 });
  // Stopping the server ends connections that the pool is about to end itself.
  pool.on('error', () => undefined);
});
afterAll(async () => {
  await pool.end();
  await postgres.stop();
});

let worker: Awaited<ReturnType<typeof startWorker>>;
let queries: QueryBus;
beforeEach(async () => {
  await pool.query('truncate billing.balance, billing.hold, billing.reconciliation');
  worker = await startWorker(pool);
  queries = worker.app.get(QueryBus);
  await worker.commands.execute(new PurchasePack(WS, 'sprint', 'o1', BY));
});

const rows = async (table: string, mode: Mode) =>
  (
    await pool.query<Record<string, unknown>>(
      `select * from billing.${table} where mode = $1 order by 1, 2, 3`,
      [mode],
    )
  ).rows;

const requested = (reservationId: string) => ({
  workspaceId: WS,
  livemode: false,
  reservationId,
  productId: 'theme',
  profileId: 'evan',
  locale: 'fr-FR',
  asOf: '2026-04-10',
  sealedInput: '',
  cost: 20,
});
const ended = { workspaceId: WS, livemode: false, attempt: 1, sealedResult: 'sealed' };

/** Four test readings: one completes, one fails, one is abandoned, one stays open. */
const testTraffic = async (): Promise<void> => {
  for (const id of ['t1', 't2', 't3', 't4']) await worker.reserve(id, false);
  for (const id of ['t1', 't2', 't4'])
    await worker.publish(`reading-reading-of-${id}`, 'ReadingRequested', requested(id));
  await worker.publish('reading-reading-of-t1', 'ReadingCompleted', { ...ended, reservationId: 't1' });
  const failed = { workspaceId: WS, livemode: false, code: 'timed_out', attempts: 5, reservationId: 't2' };
  await worker.publish('reading-reading-of-t2', 'ReadingFailed', failed);
  const abandoned = { workspaceId: WS, livemode: false, reservationId: 't3', reason: 'late' };
  await worker.publish('reading-reading-of-t3', 'ReadingAbandoned', abandoned);
  await worker.catchUp(2);
};

/** Everything that a live query, view, metric, check or report shows. */
const liveSide = async () => {
  const exported: string[] = [];
  const { text } = await queries.execute(new ExportLedger(WS, 'jsonl', null));
  for await (const chunk of text) exported.push(chunk);
  await worker.app.get(ScheduledReconciliation).round(never);
  const { rows: figures } = await pool.query(
    'select books, captures, completed, differences, pending from billing.reconciliation',
  );
  return {
    stream: worker.store.log
      .filter(({ stream }) => stream.startsWith('credits-'))
      .map(({ position: _, ...event }) => event),
    balances: await rows('balance', 'live'),
    holds: await rows('hold', 'live'),
    figures,
    exported,
    balance: await queries.execute(new GetBalance(WS)),
    credits: await queries.execute(new GetCredits(WS, true)),
    ledger: await queries.execute(new GetLedger(WS)),
    statement: await queries.execute(new GetMonthlyStatement(WS, '2026-04')),
    verified: await queries.execute(new VerifyLedger(null)),
    reconciled: await queries.execute(new ReconcileLedger(null, 0)),
    alerts: worker.alerts,
    warnings: worker.warnings,
  };
};

describe('test traffic', () => {
  it('is seen by no live query, view, metric, check, report or export', async () => {
    await worker.commands.execute(new SubscribeToPlan(WS, 'studio', null, BY));
    await worker.reserve('r1');
    await worker.catchUp();
    await worker.app.get(IdleBooks).nudge(never);
    const before = await liveSide();
    await testTraffic();
    await worker.app.get(IdleBooks).nudge(never);
    expect(await liveSide()).toEqual(before);
    expect(before.alerts).toEqual([]);
    expect(await rows('balance', 'test')).toMatchObject([
      { workspace_id: WS, available: '9960', held: '20', consumed: '20', adjusted: '10000' },
    ]);
    expect(await rows('hold', 'test')).toMatchObject([
      { reservation_id: 't4', amount: '20', confirmed: false },
    ]);
  });

  it('is shown, verified and reconciled by queries of its own', async () => {
    await testTraffic();
    const balance = { available: 9_960, held: 20, consumed: 20, adjusted: 10_000, granted: 0, expired: 0 };
    const asOf = (at: AsOf) => queries.execute(new GetBalanceAsOf(WS, at, false));
    expect(await queries.execute(new GetBalance(WS, false))).toEqual(balance);
    expect(await asOf({ revision: 2n })).toMatchObject({ available: 9_980, held: 20 });
    expect(await asOf({ instant: START - 1 })).toBeNull();
    const statement = await queries.execute(new GetMonthlyStatement(WS, '2026-04', false));
    expect(statement).toMatchObject({
      closing: { available: 9_960, held: 20, consumed: 20 },
      money: { sales: 0, earned: 0, closing: 0 },
    });
    const types = [
      'BookOpened',
      'CreditsAdjusted',
      ...Array.from({ length: 4 }, () => 'CreditsReserved'),
      'CreditsCaptured',
      'CreditsReleased',
      'CreditsReleased',
    ];
    expect(statement!.entries.map(({ type }) => type)).toEqual(types);
    expect((await queries.execute(new GetLedger(WS, false))).map(({ type }) => type)).toEqual(types);
    expect(await queries.execute(new GetMonthlyStatement(WS, '2026-03', false))).toBeNull();
    expect(await queries.execute(new VerifyLedger(null, undefined, false))).toMatchObject({
      books: [{ workspaceId: WS, events: 9, findings: [] }],
      corrections: [],
    });
    expect(await queries.execute(new ReconcileLedger(null, 0, undefined, false))).toMatchObject({
      books: 1,
      captures: 1,
      completed: 1,
      differences: [],
      pending: [],
    });
  });

  it('is explained reading by reading, also before a reading has named its reservation', async () => {
    await testTraffic();
    const explained = (id: string) => queries.execute(new ExplainReading(`reading-of-${id}`, WS));
    expect(await explained('t1')).toMatchObject({
      outcome: 'completed',
      credits: [
        { type: 'CreditsReserved', cause: { type: 'ReadingRequested' } },
        { type: 'CreditsCaptured', cause: { type: 'ReadingCompleted' }, paidBy: [{ cents: 0 }] },
      ],
      findings: [],
    });
    expect(await explained('t3')).toMatchObject({ outcome: 'abandoned', findings: [] });
    await worker.reserve('t5', false);
    expect(await explained('t5')).toMatchObject({ outcome: 'open', credits: [{ cause: null }] });
  });
});
