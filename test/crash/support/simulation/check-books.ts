import { CreditBooks } from '@app/billing/application/credit-books.js';
import { createCreditsExecutor } from '@app/billing/credits.executor.js';
import { Reconciler } from '@app/billing/audit/reconcile.js';
import { READING_COST, type Balance } from '@app/billing/contracts/index.js';
import { balanceOf } from '@app/billing/domain/credits/balance.js';
import { credits } from '@app/billing/domain/credits/credits.decider.js';
import type { Credits } from '@app/billing/domain/credits/credits.state.js';
import { violations } from '@app/billing/domain/credits/invariants.js';
import { canonicalJson } from '@app/event-sourcing/core/canonical-json.js';
import { fold } from '@app/event-sourcing/core/decider.js';
import { readingDecider } from '@app/readings/domain/reading/reading.decider.js';
import type { World } from './world.js';
import { type History, type Report } from './history.js';

export const checkHolds = ({ readings, books }: History, report: Report): void => {
  const ledger = [...books.values()].flat();
  for (const [id, events] of readings) {
    for (const event of events) {
      if (event.type !== 'ReadingRequested') continue;
      const { reservationId } = event.data;
      const held = ledger.find(
        (one) => one.type === 'CreditsReserved' && one.data.reservationId === reservationId,
      );
      if (!held || held.position > event.position) report(`reading ${id} was accepted without a hold`);
    }
  }
  for (const hold of ledger) {
    if (hold.type !== 'CreditsReserved') continue;
    const { reservationId, readingId } = hold.data;
    const settled = ledger.filter(
      (one) =>
        (one.type === 'CreditsCaptured' || one.type === 'CreditsReleased') &&
        one.data.reservationId === reservationId,
    );
    if (settled.length !== 1) report(`hold ${reservationId} was settled ${settled.length} times`);
    const isCompleted = (readings.get(readingId) ?? []).some(
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
  { books, readings }: History,
  report: Report,
): Promise<void> => {
  for (const [workspaceId, events] of books) {
    for (const breach of violations(events)) report(`book of ${workspaceId}: ${breach}`);
    const state = fold(credits, credits.initialState, events);
    const { held, consumed } = balanceOf(state);
    const completed = [...readings.values()]
      .flat()
      .filter((event) => event.type === 'ReadingCompleted' && event.data.workspaceId === workspaceId);
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
    const status = world.tables.views.of('readings.reading').get(id)?.['status'] ?? 'none';
    if (status !== state.status) {
      report(`reading ${id} is ${state.status} in its stream and ${status as string} in the view`);
    }
  }
};

/** Omits recent settlements from the comparison: the book keeps them in generations, which rotate at a closing. */
const comparable = ({ settled: _, ...book }: Credits): object => book;

const loadedBook = async ({ store, scheduler }: World, workspaceId: string): Promise<Credits> => {
  const books = new CreditBooks(createCreditsExecutor(store, 10_000), { now: () => scheduler.now });
  // The book as a command would load it, before it records what has become due.
  const { executor } = books as unknown as { executor: { load(id: string): Promise<{ state: Credits }> } };
  return (await executor.load(workspaceId)).state;
};

export const checkReconciliation = ({ store, tables }: World, report: Report): void => {
  const balances = [...tables.views.of('billing.balance')].map(([workspaceId, row]) => {
    const { available, held, consumed, expired, granted, adjusted } = row as unknown as Balance;
    const balance = { available, held, consumed, expired, granted, adjusted };
    return [workspaceId, { revision: BigInt(row['revision'] as string), balance }] as const;
  });
  const reconciler = new Reconciler(null, new Map(balances));
  for (const event of store.log) reconciler.see(event);
  const { differences, pending } = reconciler.report(Infinity);
  for (const { message, workspaceId } of [...differences, ...pending]) report(`${workspaceId}: ${message}`);
};
