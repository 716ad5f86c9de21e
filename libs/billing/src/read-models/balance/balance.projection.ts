import { instant } from '@app/event-sourcing/core/clock.js';
import type { Recorded } from '@app/event-sourcing/core/event.js';
import { streamId } from '@app/event-sourcing/core/stream-name.js';
import type { Projection } from '@app/event-sourcing/projections/projection.js';
import { sql, type Statement } from '@app/event-sourcing/projections/statement.js';
import { creditsEvents, type Account, type CreditsEvent } from '../../contracts/events.js';
import { endOfMonth, monthAfter } from '../../domain/credits/calendar.js';
import { postings } from '../../domain/credits/postings.js';

/** One row per book. Each event adds what it moved, guarded by revision, so that a repeated event adds nothing. */
export const balanceProjection: Projection = {
  name: 'billing.balance.v1',
  catalogues: [creditsEvents],
  onPoison: 'halt',
  project: (event) => [balanceStatement(event as Recorded<CreditsEvent>)],
};

const balanceStatement = (event: Recorded<CreditsEvent>): Statement => {
  const workspaceId = streamId(event.stream);
  const revision = String(event.revision);
  const { occurredAt } = event.metadata;
  const dueAt = nextDueAfter(event);
  if (event.type === 'BookOpened') {
    return sql`
      insert into billing.balance (workspace_id, revision, due_at, updated_at)
      values (${workspaceId}, ${revision}, ${dueAt}, ${occurredAt}) on conflict do nothing`;
  }
  const moved = movement(event);
  return sql`
    update billing.balance set
      available = available + ${moved('available')}, held = held + ${moved('held')},
      consumed = consumed + ${moved('consumed')}, expired = expired + ${moved('expired')},
      granted = granted - ${moved('issued:plan', 'issued:pack')}, adjusted = adjusted - ${moved('adjusted')},
      revision = ${revision}, due_at = coalesce(${dueAt}::timestamptz, due_at), updated_at = ${occurredAt}
    where workspace_id = ${workspaceId} and revision < ${revision}`;
};

const movement = (event: CreditsEvent) => {
  const entries = postings(event);
  return (...accounts: readonly Account[]): number =>
    entries.reduce((sum, { account, amount }) => (accounts.includes(account) ? sum + amount : sum), 0);
};

/** When time will next make something due in this book, as far as this event tells; `null` when it tells nothing. */
export const nextDueAfter = (event: CreditsEvent): string | null => {
  if (event.type === 'BookOpened') return instant(endOfMonth(event.data.period));
  if (event.type === 'PlanGranted') {
    return soonest(event.data.expiresAt, endOfMonthOf(event.data.validFrom));
  }
  if (event.type === 'GrantExpired') return endOfMonthOf(event.data.expiredAt);
  if (event.type !== 'PeriodClosed') return null;
  const { period, subscription, openGrants } = event.data;
  const expiries = openGrants.flatMap(({ remaining, expiresAt }) =>
    remaining > 0 && expiresAt ? [expiresAt] : [],
  );
  const granted = subscription ? [subscription.nextGrantAt] : [];
  return soonest(instant(endOfMonth(monthAfter(period))), ...granted, ...expiries);
};

const endOfMonthOf = (at: string): string => instant(endOfMonth(at.slice(0, 7)));

/** Instants in the one written form sort as text. */
const soonest = (...instants: readonly [string, ...string[]]): string => instants.toSorted()[0]!;
