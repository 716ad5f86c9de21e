import { balanceOf } from '@app/billing/domain/credits/balance.js';
import type { Credits } from '@app/billing/domain/credits/credits.state.js';
import { createCreditsExecutor } from '@app/billing/credits.executor.js';
import { endOfMonth } from '@app/billing/domain/credits/calendar.js';
import { instant } from '@app/event-sourcing/core/clock.js';
import { uuid5 } from '@app/event-sourcing/core/event-id.js';
import type { EventStore } from '@app/event-sourcing/store/event-store.js';
import { InMemoryEventStore } from '@app/event-sourcing/testing/in-memory-event-store.js';
import type pg from 'pg';
import { BY, ledgerOn, openBook } from './books.js';

/** With its opening and its grant, a book then has 1,000 events. */
const READINGS = 499;
/** Readings of a book that are under way at the same time: their entries follow each other in the log. */
const TOGETHER = 10;
/** Books filled at the same time. */
const AT_ONCE = 32;
const PRICE = 20;

/**
 * Fills books with one month of readings, all completed and captured, interleaved in the log as a service would write them.
 * Writes their balance view too, because no worker runs. The month is still open in every book.
 * @param period `yyyy-mm`
 */
export const fillMonth = async (
  store: EventStore,
  pool: Pick<pg.Pool, 'query'>,
  books: number,
  period: string,
): Promise<void> => {
  let next = 0;
  const writer = async (): Promise<void> => {
    while (next < books) {
      const workspaceId = `ws_${String(next++).padStart(22, '0')}`;
      const book = await writeBook(store, workspaceId, period);
      await insertBalance(pool, workspaceId, book, period);
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, writer));
};

const writeBook = async (store: EventStore, workspaceId: string, period: string) => {
  const at = `${period}-15T12:00:00.000Z`;
  const memory = new InMemoryEventStore();
  const ledger = ledgerOn(memory, () => Date.parse(at));
  await openBook(ledger, workspaceId, READINGS * PRICE);
  let written = 0;
  const flush = async (): Promise<void> => {
    const expected = written === 0 ? 'no_stream' : BigInt(written - 1);
    await store.append(`credits-${workspaceId}`, expected, memory.log.slice(written));
    written = memory.log.length;
  };
  for (let first = 0; first < READINGS; first += TOGETHER) {
    const readings = Array.from({ length: Math.min(TOGETHER, READINGS - first) }, (_, n) => {
      const id = (kind: string): string => uuid5(workspaceId, kind, String(first + n));
      return { reservationId: id('reservation'), readingId: id('reading'), causeEventId: id('completed') };
    });
    for (const { reservationId, readingId } of readings)
      await ledger.do(
        workspaceId,
        { type: 'ReserveCredits', reservationId, readingId, amount: PRICE },
        reservationId,
      );
    await flush();
    await Promise.all(
      readings.map((one) =>
        store.append(`reading-${one.readingId}`, 'no_stream', lifeOf(workspaceId, at, one)),
      ),
    );
    for (const { reservationId, causeEventId } of readings)
      await ledger.do(workspaceId, { type: 'CaptureCredits', reservationId, causeEventId }, causeEventId);
    await flush();
  }
  const { state } = await createCreditsExecutor(memory).load(workspaceId);
  return { state, revision: written - 1, at };
};

interface Ids {
  readonly reservationId: string;
  readonly readingId: string;
  readonly causeEventId: string;
}

/** A reading that was requested and completed, without the other events of its life. */
const lifeOf = (workspaceId: string, at: string, { reservationId, readingId, causeEventId }: Ids) => {
  const metadata = { ...BY, workspaceId, occurredAt: at, schemaVersion: 2 };
  const own = { workspaceId, reservationId };
  const asked = {
    productId: 'theme',
    profileId: 'evan',
    locale: 'fr-FR',
    asOf: at.slice(0, 10),
    cost: PRICE,
  };
  return [
    {
      id: readingId,
      type: 'ReadingRequested',
      data: { ...own, ...asked, sealedInput: Buffer.alloc(240, 7).toString('base64') },
      metadata,
    },
    {
      id: causeEventId,
      type: 'ReadingCompleted',
      data: { ...own, attempt: 1, sealedResult: Buffer.alloc(4_395, 7).toString('base64') },
      metadata,
    },
  ];
};

const insertBalance = async (
  pool: Pick<pg.Pool, 'query'>,
  workspaceId: string,
  { state, revision, at }: { state: Credits; revision: number; at: string },
  period: string,
): Promise<void> => {
  const { available, held, consumed, expired, granted, adjusted } = balanceOf(state);
  await pool.query(
    `insert into billing.balance
       (workspace_id, available, held, consumed, expired, granted, adjusted, revision, due_at, updated_at)
     values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)`,
    [
      workspaceId,
      available,
      held,
      consumed,
      expired,
      granted,
      adjusted,
      revision,
      instant(endOfMonth(period)),
      at,
    ],
  );
};
