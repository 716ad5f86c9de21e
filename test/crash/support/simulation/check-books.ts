import { CreditBooks } from '#billing/application/credit-books.js';
import { createCreditsExecutor } from '#billing/executors.js';
import { READING_COST, type Balance, type CreditsEvent } from '#billing/contracts/index.js';
import { balanceOf } from '#billing/domain/postings.js';
import { credits } from '#billing/domain/credits.decider.js';
import type { Credits } from '#billing/domain/credits.state.js';
import { violations } from '../../../../libs/billing/test/violations.js';
import { canonicalJson } from '#event-sourcing/core/canonical-json.js';
import { fold } from '#event-sourcing/core/decider.js';
import type { Recorded } from '#event-sourcing/core/event.js';
import type { ReadingEvent } from '#readings/contracts/index.js';
import { readingDecider } from '#readings/domain/reading.decider.js';
import { Reconciler } from '#billing/audit/reconcile.js';
import type { World } from './world.js';
import { type History, type Report } from './history.js';

/** In each mode, the books of the other do not count. */
export const checkHolds = ({ readings, books, testBooks }: History, report: Report): void => {
  checkHoldsOf(true, readings, [...books.values()].flat(), report);
  checkHoldsOf(false, readings, [...testBooks.values()].flat(), report);
};

const checkHoldsOf = (
  livemode: boolean,
  readings: History['readings'],
  ledger: readonly Recorded<CreditsEvent>[],
  report: Report,
): void => {
  const movements = ledger.flatMap((event) =>
    'reservationId' in event.data ? [{ ...event, data: event.data }] : [],
  );
  for (const [id, events] of readings) {
    for (const event of events) {
      if (event.type !== 'ReadingRequested' || event.data.livemode !== livemode) continue;
      const { reservationId } = event.data;
      const held = movements.find(
        ({ type, data }) => type === 'CreditsReserved' && data.reservationId === reservationId,
      );
      if (!held || held.position > event.position) report(`reading ${id} was accepted without a hold`);
    }
  }
  for (const hold of movements) {
    if (hold.type !== 'CreditsReserved') continue;
    const { reservationId, readingId } = hold.data;
    const ofReading = readings.get(readingId) ?? [];
    if (ofReading.some(({ data }) => 'livemode' in data && data.livemode !== livemode))
      report(`reading ${readingId} is of the other mode than its hold ${reservationId}`);
    const settled = movements.filter(
      ({ type, data }) => type !== 'CreditsReserved' && data.reservationId === reservationId,
    );
    if (settled.length !== 1) report(`hold ${reservationId} was settled ${settled.length} times`);
    const isCompleted = ofReading.some(
      (event) => event.type === 'ReadingCompleted' && event.data.reservationId === reservationId,
    );
    const isCaptured = settled.some(({ type }) => type === 'CreditsCaptured');
    if (isCaptured !== isCompleted) {
      report(
        `hold ${reservationId} was ${isCaptured ? '' : 'not '}captured, its reading ${isCompleted ? '' : 'not '}completed`,
      );
    }
  }
};

export const checkBooks = async (
  world: World,
  { books, readings, rows }: History,
  report: Report,
): Promise<void> => {
  const shown = new Map(rows('readings.reading').map((row) => [row['reading_id'], row['status']]));
  for (const [workspaceId, events] of books) {
    for (const breach of violations(events)) report(`book of ${workspaceId}: ${breach}`);
    const state = fold(credits, credits.initialState, events);
    const { held, consumed } = balanceOf(state);
    const completed = [...readings.values()]
      .flat()
      .filter((event) => isCompletedIn(event, workspaceId, true));
    if (consumed !== READING_COST * completed.length) {
      report(`${workspaceId} consumed ${consumed} credits for ${completed.length} completed readings`);
    }
    if (held !== 0) report(`${workspaceId} still holds ${held} credits`);
    const loaded = await loadedBook(world, workspaceId);
    if (canonicalJson(comparable(loaded)) !== canonicalJson(comparable(state))) {
      report(
        `the book of ${workspaceId} loaded from its last closing is not the book folded from its beginning`,
      );
    }
  }
  for (const [id, events] of readings) {
    const state = fold(readingDecider, readingDecider.initialState, events);
    const status = shown.get(id) ?? 'none';
    if (status !== state.status) {
      report(`reading ${id} is ${state.status} in its stream and ${status as string} in the view`);
    }
  }
};

export const checkTestBooks = ({ testBooks, readings }: History, report: Report): void => {
  for (const [workspaceId, events] of testBooks) {
    for (const breach of violations(events)) report(`test book of ${workspaceId}: ${breach}`);
    const { held, consumed } = balanceOf(fold(credits, credits.initialState, events));
    const completed = [...readings.values()]
      .flat()
      .filter((event) => isCompletedIn(event, workspaceId, false));
    if (consumed !== READING_COST * completed.length)
      report(`${workspaceId} consumed ${consumed} test credits for ${completed.length} completed readings`);
    if (held !== 0) report(`${workspaceId} still holds ${held} test credits`);
  }
};

const isCompletedIn = ({ type, data }: ReadingEvent, workspaceId: string, livemode: boolean): boolean =>
  type === 'ReadingCompleted' && data.workspaceId === workspaceId && data.livemode === livemode;

/** Omits recent settlements from the comparison: the book keeps them in generations, which rotate at a closing. */
const comparable = ({ settled: _, ...book }: Credits): object => book;

const loadedBook = async ({ store, scheduler }: World, workspaceId: string): Promise<Credits> => {
  const books = new CreditBooks(createCreditsExecutor(store, 10_000), { now: () => scheduler.now });
  // The book as a command would load it, before it records what has become due.
  const { executor } = books as unknown as { executor: { load(id: string): Promise<{ state: Credits }> } };
  return (await executor.load(workspaceId)).state;
};

export const checkReconciliation = (world: World, history: History, report: Report): void => {
  for (const livemode of [true, false]) reconcile(world, history, livemode, report);
};

const reconcile = ({ store }: World, { rows }: History, livemode: boolean, report: Report): void => {
  const columns = Object.keys(balanceOf(credits.initialState));
  const balances = rows('billing.balance')
    .filter(({ mode }) => (mode === 'live') === livemode)
    .map((row) => {
      const amounts = columns.map((column) => [column, row[column]] as const);
      const balance = Object.fromEntries(amounts) as unknown as Balance;
      return [
        row['workspace_id'] as string,
        { revision: BigInt(row['revision'] as number), balance },
      ] as const;
    });
  const reconciler = new Reconciler(null, new Map(balances), livemode);
  for (const event of store.log) reconciler.see(event);
  const { differences, pending } = reconciler.report(Infinity);
  for (const { message, workspaceId } of [...differences, ...pending]) report(`${workspaceId}: ${message}`);
};
