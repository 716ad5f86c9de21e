import { instant } from '@app/event-sourcing/core/clock.js';
import type { Recorded } from '@app/event-sourcing/core/event.js';
import { streamId } from '@app/event-sourcing/core/stream-name.js';
import { defineProjection } from '@app/event-sourcing/projections/projection.js';
import { view } from '@app/event-sourcing/projections/view.js';
import { creditsEvents, type Account, type CreditsEvent } from '../../contracts/events.js';
import { endOfMonth, monthAfter } from '../../domain/credits/calendar.js';
import { postings } from '../../domain/credits/postings.js';

interface BalanceRow {
  readonly workspace_id: string;
  readonly available: number | string;
  readonly held: number | string;
  readonly consumed: number | string;
  readonly expired: number | string;
  readonly granted: number | string;
  readonly adjusted: number | string;
  /** Revision of the last event applied. */
  readonly revision: string;
  readonly due_at: string;
  readonly updated_at: string;
}

type Event = Recorded<CreditsEvent>;

const balances = view<BalanceRow, Event>({
  table: 'billing.balance',
  key: ['workspace_id'],
  keyOf: ({ stream }) => ({ workspace_id: streamId(stream) }),
  evolve(row, event) {
    if (event.type === 'BookOpened') return row ?? opened(event);
    // Nothing deletes a book. Without the row, the event's movement would be lost in silence.
    if (row === null) throw new RowMissing('The row of the book is missing: replay its stream');
    if (BigInt(row.revision) >= event.revision) return row;
    const moved = movement(event);
    return requireNotOverdrawn({
      ...row,
      available: Number(row.available) + moved('available'),
      held: Number(row.held) + moved('held'),
      consumed: Number(row.consumed) + moved('consumed'),
      expired: Number(row.expired) + moved('expired'),
      granted: Number(row.granted) - moved('issued:plan', 'issued:pack'),
      adjusted: Number(row.adjusted) - moved('adjusted'),
      revision: String(event.revision),
      due_at: nextDueAfter(event, row.due_at),
      updated_at: event.metadata.occurredAt,
    });
  },
});

/** One row per book. Each event adds its movements, guarded by revision, so that a repeated event adds nothing. */
export const balanceProjection = defineProjection({
  name: 'billing.balance.v1',
  catalogues: [creditsEvents],
  views: [balances],
});

class RowMissing extends Error {
  override readonly name = 'RowMissing';
}

const opened = (event: Event): BalanceRow => ({
  workspace_id: streamId(event.stream),
  available: 0,
  held: 0,
  consumed: 0,
  expired: 0,
  granted: 0,
  adjusted: 0,
  revision: String(event.revision),
  due_at: nextDueAfter(event, ''),
  updated_at: event.metadata.occurredAt,
});

/**
 * Checks each event. The table's constraint sees only the last row of a batch. @throws RangeError, which parks the book
 */
const requireNotOverdrawn = (row: BalanceRow): BalanceRow => {
  if (Number(row.available) < 0 || Number(row.held) < 0)
    throw new RangeError(`overdrawn: available ${row.available}, held ${row.held}`);
  return row;
};

const movement = (event: CreditsEvent) => {
  const entries = postings(event);
  return (...accounts: readonly Account[]): number =>
    entries.reduce((sum, { account, amount }) => (accounts.includes(account) ? sum + amount : sum), 0);
};

/**
 * When something will next become due in this book.
 * @param before as it was before this event, which may not determine it
 */
export const nextDueAfter = (event: CreditsEvent, before: string): string => {
  if (event.type === 'BookOpened') return instant(endOfMonth(event.data.period));
  if (event.type === 'PlanGranted') {
    return soonest(event.data.expiresAt, endOfMonthOf(event.data.validFrom));
  }
  if (event.type === 'GrantExpired') return endOfMonthOf(event.data.expiredAt);
  if (event.type === 'CreditsAdjusted' && event.data.expiresAt !== undefined)
    return soonest(instant(Date.parse(before)), event.data.expiresAt);
  if (event.type !== 'PeriodClosed') return before;
  const { period, subscription, openGrants } = event.data;
  const expiries = openGrants.flatMap(({ remaining, expiresAt }) =>
    remaining > 0 && expiresAt ? [expiresAt] : [],
  );
  const granted = subscription && !subscription.endsAt ? [subscription.nextGrantAt] : [];
  return soonest(instant(endOfMonth(monthAfter(period))), ...granted, ...expiries);
};

const endOfMonthOf = (at: string): string => instant(endOfMonth(at.slice(0, 7)));

/** Instants in this one format sort as text. */
const soonest = (...instants: readonly [string, ...string[]]): string => instants.toSorted()[0]!;
