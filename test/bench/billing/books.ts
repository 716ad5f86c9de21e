import { CreditBooks, TestBooks } from '#billing/application/credit-books.js';
import { createCreditsExecutor, createTestBookExecutor } from '#billing/executors.js';
import { ReserveCreditsHandler } from '#billing/application/reservations.js';
import type { CreditsCommand } from '#billing/domain/credits.decider.js';
import type { EventStore } from '#event-sourcing/store/event-store.js';
import { openEventStore } from '#event-sourcing/store/eventstoredb.js';
import { concurrently } from '../measure.js';
import { adjustment } from '../../../libs/billing/test/adjustment.js';

type Untimed = CreditsCommand extends infer C ? (C extends { now: number } ? Omit<C, 'now'> : never) : never;

export const BY = { actor: 'operator:bench', correlationId: 'bench', causationId: 'bench' };

export const connect = (url: string): Promise<EventStore> =>
  openEventStore({ connectionString: url, appendTimeoutMs: 30_000, readTimeoutMs: 30_000 });

/** The ledger as in an API process, with a clock that the benchmark controls. */
export const ledgerOn = (store: EventStore, now: () => number = Date.now) => {
  const books = new CreditBooks(createCreditsExecutor(store, 10_000), { now });
  const testBooks = new TestBooks(createTestBookExecutor(store, 10_000), { now });
  return {
    books,
    reserving: new ReserveCreditsHandler(books, testBooks),
    do: async (workspaceId: string, command: Untimed, intent: string): Promise<void> => {
      const outcome = await books.execute(workspaceId, (at) => ({ ...command, now: at }), intent, BY);
      if (outcome.kind !== 'accepted') throw new Error(`${command.type}: ${outcome.kind}`);
    },
  };
};
export type Ledger = ReturnType<typeof ledgerOn>;

/** Opens a book with the given credits. */
export const openBook = async (ledger: Ledger, workspaceId: string, credits: number): Promise<void> => {
  await ledger.do(workspaceId, { type: 'OpenBook', workspaceId }, 'open');
  const given = { adjustmentId: 'a1', amount: credits, reason: 'bench', approvedBy: 'bench' };
  await ledger.do(workspaceId, adjustment({ ...given, actor: BY.actor }), 'adjust');
};

/** Concurrent calls while a book is filled. */
const IN_FLIGHT = 256;

/** Reserves the given number of readings, and captures all but the last `open`: two events per reading. */
export const fillBook = async (
  ledger: Ledger,
  workspaceId: string,
  readings: number,
  open: number,
): Promise<void> => {
  await concurrently(IN_FLIGHT, readings, async (n) => {
    const ids = { reservationId: `reservation-of-the-bench-${n}`, readingId: `reading-of-the-bench-${n}` };
    const asked = { reservations: [ids], amount: 20, all: true };
    await ledger.do(workspaceId, { type: 'ReserveCredits', ...asked }, `reserve:${n}`);
    if (n >= readings - open) return;
    const settled = { reservationId: ids.reservationId, causeEventId: `completion-of-the-bench-${n}` };
    await ledger.do(workspaceId, { type: 'CaptureCredits', ...settled }, `capture:${n}`);
  });
};
