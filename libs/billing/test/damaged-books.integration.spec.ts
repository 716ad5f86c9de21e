import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { QueryBus } from '@nestjs/cqrs';
import pg from 'pg';
import { GetBalance, PurchasePack, VerifyLedger } from '#billing/contracts/index.js';
import type { StoredEvent } from '#event-sourcing/core/event.js';
import { GetOpenHolds } from '#readings/contracts/index.js';
import { freshDatabase } from '../../../test/support/fresh-database.js';
import { BY, WS, startWorker } from './start-worker.js';

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
beforeEach(async () => {
  await pool.query('truncate billing.balance, billing.hold');
  worker = await startWorker(pool);
  await worker.commands.execute(new PurchasePack(WS, 'sprint', 'o1', BY));
});

const testCompleted = {
  workspaceId: WS,
  livemode: false,
  attempt: 1,
  reservationId: 't1',
  sealedResult: 'sealed',
};

const dispatch = (consumer: string, event: StoredEvent) =>
  worker.work.consumers.find(({ name }) => name === consumer)!.dispatch!([event]);

const recordedAs = async (stream: string, type: string, data: object): Promise<StoredEvent> => {
  const id = await worker.publish(stream, type, data);
  return worker.store.log.find((event) => event.id === id)!;
};

/** Appends an entry that no program can read. */
const damage = async (stream: string): Promise<void> => {
  const last = worker.store.log.findLast((event) => event.stream === stream)!;
  const data = { reservationId: 7 };
  const type = 'CreditsReserved';
  await worker.store.append(stream, last.revision, [
    { id: `damage-${stream}`, type, data, metadata: last.metadata },
  ]);
};

describe('a damaged test book', () => {
  it('stops neither reservations nor settlements of the live one', async () => {
    await worker.reserve('t1', false);
    await worker.reserve('r1');
    await worker.catchUp();
    await damage(`testbook-${WS}`);
    // Another process, which has not folded the book before.
    worker = await startWorker(pool, worker.store);
    expect(await worker.reserve('t2', false)).toMatchObject({ outcome: 'misconfigured' });
    expect(await worker.reserve('r2')).toMatchObject({ outcome: 'reserved' });
    const completed = {
      workspaceId: WS,
      livemode: true,
      reservationId: 'r1',
      attempt: 1,
      sealedResult: 'sealed',
    };
    const event = await recordedAs('reading-1', 'ReadingCompleted', completed);
    await dispatch('billing.settlement.v1', event);
    expect(await worker.app.get(QueryBus).execute(new GetBalance(WS))).toMatchObject({
      consumed: 20,
      held: 20,
    });
    const test = await recordedAs('reading-2', 'ReadingCompleted', testCompleted);
    await expect(dispatch('billing.settlement.v1', test)).rejects.toThrow(/testbook-/);
    expect(await worker.app.get(QueryBus).execute(new GetOpenHolds(WS))).toBeNull();
    expect(await worker.app.get(QueryBus).execute(new VerifyLedger(null))).toMatchObject({
      books: [{ findings: [] }],
    });
    expect(await worker.app.get(QueryBus).execute(new VerifyLedger(WS, undefined, false))).toMatchObject({
      books: [{ findings: [{ check: 'chain' }, { check: 'event' }] }],
    });
  });
});

describe('a damaged live book', () => {
  it('stops neither reservations nor settlements of the test one', async () => {
    await worker.reserve('t1', false);
    await damage(`credits-${WS}`);
    worker = await startWorker(pool, worker.store);
    expect(await worker.reserve('r1')).toMatchObject({ outcome: 'misconfigured' });
    expect(await worker.reserve('t2', false)).toMatchObject({ outcome: 'reserved' });
    const test = await recordedAs('reading-2', 'ReadingCompleted', testCompleted);
    await dispatch('billing.settlement.v1', test);
    expect(await worker.app.get(QueryBus).execute(new GetBalance(WS, false))).toMatchObject({
      consumed: 20,
    });
  });
});
