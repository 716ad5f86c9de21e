import { beforeEach, describe, expect, it } from '@jest/globals';
import { QueryBus } from '@nestjs/cqrs';
import { randomUUID } from 'node:crypto';
import { HoldFence, IdleBooks } from '#billing/application/upkeep.js';
import { RECONCILE_EVERY_MS, ScheduledReconciliation } from '#billing/application/audits.js';
import {
  ExplainReading,
  ExportLedger,
  GetBalance,
  GetCredits,
  GetLedger,
  GetMonthlyStatement,
  PurchasePack,
  ReconcileLedger,
  SubscribeToPlan,
  VerifyLedger,
} from '#billing/contracts/index.js';
import type { StoredEvent } from '#event-sourcing/core/event.js';
import type { Mode } from '#event-sourcing/core/request-context.js';
import { GetOpenHolds } from '#readings/contracts/index.js';
import { testPool } from '../../../test/support/test-pool.js';
import { BY, FENCE_MS, START, WS, startWorker } from './start-worker.js';

const never = new AbortController().signal;

const pool = testPool();
let worker: Awaited<ReturnType<typeof startWorker>>;
beforeEach(async () => {
  await pool.query('truncate billing.balance, billing.hold, billing.reconciliation');
  worker = await startWorker(pool);
  await worker.commands.execute(new PurchasePack(WS, 'sprint', 'o1', BY));
});

const rows = async (table: string, mode: Mode = 'live') => {
  const text = `select * from billing.${table} where mode = $1 order by 1, 2, 3`;
  return (await pool.query<Record<string, unknown>>(text, [mode])).rows;
};
const completed = (reservationId: string) => ({
  workspaceId: WS,
  livemode: true,
  reservationId,
  attempt: 1,
  sealedResult: 'sealed',
});

describe('the balance view', () => {
  it('and the holds stay the same when every batch arrives twice', async () => {
    await worker.reserve('r1');
    await worker.reserve('r2');
    await worker.publish('reading-1', 'ReadingCompleted', completed('r1'));
    await worker.catchUp(2);
    expect(await rows('balance')).toMatchObject([{ available: '160', held: '20', consumed: '20' }]);
    expect(await rows('hold')).toMatchObject([{ reservation_id: 'r2', amount: '20', confirmed: false }]);
  });
});

describe('settlement', () => {
  it('joins each captured credit to the event that earned it', async () => {
    await worker.reserve('r1');
    const cause = await worker.publish('reading-1', 'ReadingCompleted', completed('r1'));
    await worker.catchUp(2);
    const captures = worker.store.log.filter(({ type }) => type === 'CreditsCaptured');
    expect(captures).toHaveLength(1);
    expect(captures[0]).toMatchObject({
      data: { reservationId: 'r1', amount: 20, causeEventId: cause },
      metadata: { correlationId: 'correlation', causationId: cause, actor: 'system:billing.settlement' },
    });
  });

  it('waits for the book of its workspace', async () => {
    const id = await worker.publish('reading-1', 'ReadingCompleted', completed('r1'));
    const event = worker.store.log.find((one) => one.id === id)!;
    const workspaceId = 'ws_2';
    const data = { ...completed('r1'), workspaceId };
    const elsewhere = { ...event, data, metadata: { ...event.metadata, workspaceId } };
    const settlement = worker.work.consumers.find(({ name }) => name === 'billing.settlement.v1')!;
    await expect(settlement.dispatch!([elsewhere])).rejects.toThrow(/no credit book yet/);
  });

  it('warns of a reading whose reservation is not open', async () => {
    await worker.publish('reading-1', 'ReadingCompleted', completed('r9'));
    await worker.catchUp();
    expect(worker.warnings).toMatchObject([{ reservationId: 'r9', settlement: 'capture' }]);
  });
});

describe('a document that was given up', () => {
  const READING = 'reading-of-r1';
  const giveUp = (version = 1, code = 'generation_failed') =>
    worker.publish(`publication-${READING}`, 'PublicationFailed', { workspaceId: WS, version, code });
  const balance = () => worker.app.get(QueryBus).execute(new GetBalance(WS));

  it('gives its credits back, once, and every audit of the ledger agrees', async () => {
    await worker.reserve('r1');
    await worker.publish(`reading-${READING}`, 'ReadingCompleted', completed('r1'));
    const failure = await giveUp();
    await worker.catchUp(2);
    expect(await balance()).toMatchObject({ available: 200, held: 0 });
    const entries = worker.store.log.filter(({ type }) => type === 'CreditsAdjusted');
    expect(entries).toMatchObject([
      {
        data: {
          amount: 20,
          reference: READING,
          actor: 'system:billing.document-refund',
          restores: { priceCents: 990 },
          counts: { as: 'earned' },
        },
        metadata: {
          correlationId: 'correlation',
          causationId: failure,
          actor: 'system:billing.document-refund',
        },
      },
    ]);
    await worker.app.get(ScheduledReconciliation).round(never);
    expect(worker.alerts).toEqual([]);
    const queries = worker.app.get(QueryBus);
    for (const workspaceId of [null, WS])
      expect(await queries.execute(new VerifyLedger(workspaceId))).toMatchObject({
        books: [{ findings: [] }],
        corrections: [],
      });
  });

  it.each([
    ['a later version: the reading has a document', 2, 'generation_failed'],
    ['a lost key, which operators judge', 1, 'result_unreadable'],
  ])('gives nothing back for %s', async (_, version, code) => {
    await worker.reserve('r1');
    await worker.publish(`reading-${READING}`, 'ReadingCompleted', completed('r1'));
    await giveUp(version, code);
    await worker.catchUp();
    expect(await balance()).toMatchObject({ available: 180 });
  });
});

describe('the fence around old holds', () => {
  const sweep = () => worker.app.get(HoldFence).sweep(never);

  it('asks once about a hold that is old, and not before', async () => {
    await worker.reserve('r1');
    await worker.catchUp();
    worker.clock.time = START + FENCE_MS;
    await sweep();
    expect(worker.asked).toEqual([]);
    worker.clock.time += 1;
    await sweep();
    expect(worker.asked).toEqual(['r1']);
    // A reading claims it.
    await sweep();
    expect(worker.asked).toEqual(['r1']);
  });

  it('releases the credits of an abandoned hold, and only once', async () => {
    await worker.reserve('r1');
    await worker.catchUp();
    worker.clock.time = START + FENCE_MS + 1;
    worker.readings.answer = () => 'abandoned';
    await Promise.all([sweep(), sweep()]);
    const data = { workspaceId: WS, livemode: true, reservationId: 'r1', reason: 'late' };
    await worker.publish('reading-1', 'ReadingAbandoned', data);
    await worker.catchUp(2);
    expect(await rows('balance')).toMatchObject([{ available: '200', held: '0' }]);
    expect(await rows('hold')).toEqual([]);
    expect(await worker.reserve('r1')).toMatchObject({ settled: new Set(['r1']) });
  });

  it('reaches every old hold, page after page, although some cannot be judged', async () => {
    const count = 250;
    await pool.query(
      `insert into billing.hold (workspace_id, mode, reservation_id, reading_id, amount, reserved_at)
       select $1, 'live', 'r' || n, 'x', 20, $2 from generate_series(1, $3::int) n`,
      [WS, new Date(START - FENCE_MS - 1), count],
    );
    worker.readings.answer = ({ reservationId }) => {
      if (reservationId === 'r1') throw new Error('cannot be judged');
      return 'claimed';
    };
    await expect(sweep()).rejects.toThrow('cannot be judged');
    expect(new Set(worker.asked).size).toBe(count);
    expect((await rows('hold')).filter(({ confirmed }) => confirmed === false)).toHaveLength(1);
  });
});

describe('the scheduled reconciliation', () => {
  const round = (signal = never) => worker.app.get(ScheduledReconciliation).round(signal);
  const last = async () => (await pool.query('select * from billing.reconciliation')).rows;

  it('exports its figures, and alerts with the workspace and the kind of each difference', async () => {
    await worker.catchUp();
    await pool.query('update billing.balance set available = available - 20, consumed = consumed + 20');
    await round();
    expect(await last()).toMatchObject([{ books: '1', captures: '0', differences: '1', pending: '0' }]);
    expect(worker.alerts).toMatchObject([
      { alert: 'ledger_difference', kind: 'balance_differs', workspaceId: WS },
    ]);
  });

  it('is done by one of all workers, once in each interval, whatever their own clocks say', async () => {
    const started = async () => (await last())[0].started_at.getTime() as number;
    await Promise.all([round(), round(), round()]);
    const first = await started();
    worker.clock.time = START + 40 * 86_400_000;
    await round();
    expect(await started()).toBe(first);

    worker.clock.time = START - 40 * 86_400_000;
    await pool.query(
      'update billing.reconciliation set started_at = started_at - make_interval(secs => $1)',
      [RECONCILE_EVERY_MS / 1_000],
    );
    await Promise.all([round(), round(), round()]);
    expect(await started()).toBeGreaterThanOrEqual(first);
  });

  it('is repeated at once after it was given up', async () => {
    const metadata = { ...BY, workspaceId: WS, occurredAt: new Date(START).toISOString(), schemaVersion: 1 };
    const ignored = Array.from({ length: 1_100 }, () => ({
      id: randomUUID(),
      type: 'Ignored',
      data: {},
      metadata,
    }));
    await worker.store.append('workspace-x', 'no_stream', ignored);
    await expect(round(AbortSignal.abort())).rejects.toThrow();
    await round();
    expect((await last())[0].finished_at).not.toBeNull();
  });
});

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
  const queries = worker.app.get(QueryBus);
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
    // A reservation that no reading has named yet is looked for in both books.
    await worker.reserve('t5', false);
    const explained = await worker.app.get(QueryBus).execute(new ExplainReading('reading-of-t5', WS));
    expect(explained).toMatchObject({ outcome: 'open', credits: [{ cause: null }] });
  });
});

it('A damaged test book stops neither reservations nor settlements of the live one', async () => {
  const queries = () => worker.app.get(QueryBus);
  const settle = async (stream: string, data: object) => {
    const id = await worker.publish(stream, 'ReadingCompleted', data);
    const event = worker.store.log.find((one) => one.id === id)!;
    const settlement = worker.work.consumers.find(({ name }) => name === 'billing.settlement.v1')!;
    return settlement.dispatch!([event]);
  };
  await worker.reserve('t1', false);
  await worker.reserve('r1');
  await worker.catchUp();
  // An entry that no program can read.
  const last = worker.store.log.findLast(({ stream }) => stream === `testbook-${WS}`) as StoredEvent;
  const odd = { id: 'damage', type: 'CreditsReserved', data: { reservationId: 7 }, metadata: last.metadata };
  await worker.store.append(last.stream, last.revision, [odd]);
  // Another process, which has not folded the book before.
  worker = await startWorker(pool, worker.store);
  expect(await worker.reserve('t2', false)).toMatchObject({ outcome: 'misconfigured' });
  expect(await worker.reserve('r2')).toMatchObject({ outcome: 'reserved' });
  await settle('reading-1', completed('r1'));
  expect(await queries().execute(new GetBalance(WS))).toMatchObject({ consumed: 20, held: 20 });
  const test = { ...completed('t1'), livemode: false };
  await expect(settle('reading-2', test)).rejects.toThrow(/testbook-/);
  expect(await queries().execute(new GetOpenHolds(WS))).toBeNull();
  expect(await queries().execute(new VerifyLedger(null))).toMatchObject({ books: [{ findings: [] }] });
  expect(await queries().execute(new VerifyLedger(WS, undefined, false))).toMatchObject({
    books: [{ findings: [{ check: 'chain' }, { check: 'event' }] }],
  });
});
