import { balanceOf } from '#billing/domain/postings.js';
import type { Credits } from '#billing/domain/credits.state.js';
import { PACKS } from '#billing/contracts/index.js';
import { createCreditsExecutor } from '#billing/executors.js';
import { endOfMonth } from '#billing/domain/calendar.js';
import { instant } from '#event-sourcing/core/clock.js';
import { uuid5 } from '#event-sourcing/core/event-id.js';
import type { StoredEvent } from '#event-sourcing/core/event.js';
import { CHAIN_START, chainedFacts, nextChain } from '#event-sourcing/core/hash-chain.js';
import type { EventStore } from '#event-sourcing/store/event-store.js';
import { InMemoryEventStore } from '#event-sourcing/testing/in-memory-event-store.js';
import type pg from 'pg';
import { BY, ledgerOn } from './books.js';
import { concurrently } from '../measure.js';

/** Of each book. With its opening and its grant, a book then has 1,000 events. */
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
  events: EventStore,
  pool: Pick<pg.Pool, 'query'>,
  books: number,
  period: string,
): Promise<void> => {
  const at = `${period}-15T12:00:00.000Z`;
  const model = await modelBook(at);
  await concurrently(AT_ONCE, books, async (n) => {
    const workspaceId = `ws_${String(n).padStart(22, '0')}`;
    await writeBook(events, workspaceId, at, model.events);
    await insertBalance(pool, workspaceId, model.state, at);
  });
};

const MODEL = 'ws_model00000000000000000';

/** A book with its month of readings. Deciding each book's events anew would take an hour for 1,000 books. */
const modelBook = async (at: string): Promise<{ events: readonly StoredEvent[]; state: Credits }> => {
  const memory = new InMemoryEventStore();
  const ledger = ledgerOn(memory, () => Date.parse(at));
  await ledger.do(MODEL, { type: 'OpenBook', workspaceId: MODEL }, 'open');
  for (let left = READINGS * PRICE; left > 0; left -= PACKS.burst.credits)
    await ledger.do(
      MODEL,
      { type: 'PurchasePack', pack: 'burst', orderRef: `order ${left}`, actor: 'operator:bench' },
      `buy ${left}`,
    );
  for (let first = 0; first < READINGS; first += TOGETHER) {
    const together = Array.from({ length: Math.min(TOGETHER, READINGS - first) }, (_, n) =>
      String(first + n),
    );
    for (const n of together) {
      const reservations = [{ reservationId: `reservation ${n}`, readingId: `reading ${n}` }];
      const asked = { reservations, amount: PRICE, all: true };
      await ledger.do(MODEL, { type: 'ReserveCredits', ...asked }, `reserve ${n}`);
    }
    for (const n of together) {
      const captured = { reservationId: `reservation ${n}`, causeEventId: `completed ${n}` };
      await ledger.do(MODEL, { type: 'CaptureCredits', ...captured }, `capture ${n}`);
    }
  }
  const { state } = await createCreditsExecutor(memory, 10_000).load(MODEL);
  return { events: memory.log, state };
};

/** Writes the model with ids and a chain of its own, and each reading before its capture. */
const writeBook = async (
  store: EventStore,
  workspaceId: string,
  at: string,
  model: readonly StoredEvent[],
): Promise<void> => {
  const stream = `credits-${workspaceId}`;
  const ids = new Map<string, string>();
  const own = (_: string, value: unknown): unknown => {
    if (value === MODEL) return workspaceId;
    if (typeof value !== 'string' || !/^(reservation|reading|completed) \d+$/.test(value)) return value;
    const id = ids.get(value) ?? uuid5(workspaceId, value);
    ids.set(value, id);
    return id;
  };
  let chain = CHAIN_START;
  const events = model.map((event) => {
    const data = JSON.parse(JSON.stringify(event.data), own) as Record<string, unknown>;
    const id = uuid5(workspaceId, event.id);
    const metadata = { ...event.metadata, workspaceId };
    chain = nextChain(chain, chainedFacts({ ...event, id, stream, data, metadata }));
    return { id, type: event.type, data, metadata: { ...metadata, chain } };
  });
  for (let from = 0; from < events.length;) {
    // Up to the next change between reservations and captures.
    let to = from + 1;
    while (to < events.length && events[to]!.type === events[from]!.type) to += 1;
    const batch = events.slice(from, to);
    const captures = batch
      .filter(({ type }) => type === 'CreditsCaptured')
      .map(({ data }) => data as unknown as Ids);
    await Promise.all(
      captures.map((ids) =>
        store.append(`reading-${ids.readingId}`, 'no_stream', lifeOf(workspaceId, at, ids)),
      ),
    );
    await store.append(stream, from === 0 ? 'no_stream' : BigInt(from - 1), batch);
    from = to;
  }
};

interface Ids {
  readonly reservationId: string;
  readonly readingId: string;
  readonly causeEventId: string;
}

/** A reading that was requested and completed, without the other events of its life. */
const lifeOf = (workspaceId: string, at: string, { reservationId, readingId, causeEventId }: Ids) => {
  const metadata = { ...BY, workspaceId, occurredAt: at, schemaVersion: 1 };
  const own = { workspaceId, livemode: true, reservationId };
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
  book: Credits,
  at: string,
): Promise<void> => {
  const { available, held, consumed, expired, granted, adjusted } = balanceOf(book);
  const dueAt = instant(endOfMonth(book.period));
  const revision = book.eventCount - 1;
  const agenda = JSON.stringify({ period: book.period, subscription: null, grants: [] });
  await pool.query(
    `insert into billing.balance
       (workspace_id, mode, available, held, consumed, expired, granted, adjusted, revision, due_at, updated_at, agenda)
     values ($1, 'live', $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)`,
    [workspaceId, available, held, consumed, expired, granted, adjusted, revision, dueAt, at, agenda],
  );
};
