import type { Recorded } from '#event-sourcing/core/event.js';
import { streamId, categoryOf } from '#event-sourcing/core/stream-name.js';
import { defineProjection, type Projection } from '#event-sourcing/projections/projection.js';
import { view } from '#event-sourcing/projections/view.js';
import type { Mode } from '#event-sourcing/core/request-context.js';
import { selectEvents, type RecordedOf } from '#event-sourcing/core/event-catalogue.js';
import {
  creditsEvents,
  testBookEvents,
  type Account,
  type CreditsEvent,
  type Grant,
} from './contracts/events.js';
import { noItems } from './domain/carried.js';
import { evolve, grantedBy, noBook } from './domain/credits.state.js';
import { nextDueAt, type Agenda } from './domain/due.js';
import { postings } from './domain/postings.js';

interface BalanceRow {
  readonly workspace_id: string;
  readonly mode: Mode;
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
  /** What `due_at` is computed from. */
  readonly agenda: Agenda;
  /** Credits available and held after the last grant. `null` before the first. */
  readonly topped_up_to: number | string | null;
  readonly topped_up_by: string | null;
}

type Event = Recorded<CreditsEvent>;

const balances = view<BalanceRow, Event>({
  table: 'billing.balance',
  key: ['workspace_id', 'mode'],
  keyOf: ({ stream }) => ({ workspace_id: streamId(stream), mode: modeOfStream(stream) }),
  evolve(row, event) {
    if (event.type === 'BookOpened') return row ?? opened(event);
    if (row === null) throw new RowMissing();
    if (BigInt(row.revision) >= event.revision) return row;
    const moved = movement(event);
    const agenda = agendaAfter(row.agenda, event);
    const available = Number(row.available) + moved('available');
    const held = Number(row.held) + moved('held');
    const grantId = grantedBy(event);
    const toppedUp = grantId === null ? {} : { topped_up_to: available + held, topped_up_by: grantId };
    return requireNotOverdrawn({
      ...row,
      ...toppedUp,
      available,
      held,
      consumed: Number(row.consumed) + moved('consumed'),
      expired: Number(row.expired) + moved('expired'),
      granted: Number(row.granted) - moved('issued:plan', 'issued:pack'),
      adjusted: Number(row.adjusted) - moved('adjusted'),
      revision: String(event.revision),
      due_at: nextDueAt(agenda),
      updated_at: event.metadata.occurredAt,
      agenda,
    });
  },
});

/** One row per book. Each event adds its movements, guarded by revision, so that a repeated event adds nothing. */
export const balanceProjection = defineProjection({
  name: 'billing.balance.v1',
  catalogues: [creditsEvents, testBookEvents],
  views: [balances],
});

const opened = (event: Event): BalanceRow => {
  const agenda = agendaAfter(noBook, event);
  return {
    workspace_id: streamId(event.stream),
    mode: modeOfStream(event.stream),
    available: 0,
    held: 0,
    consumed: 0,
    expired: 0,
    granted: 0,
    adjusted: 0,
    revision: String(event.revision),
    due_at: nextDueAt(agenda),
    updated_at: event.metadata.occurredAt,
    agenda,
    topped_up_to: null,
    topped_up_by: null,
  };
};

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
 * The book's agenda after an event. Only grants that expire matter. Open holds are left out, so the credits of a captured
 * hold stay `held` in its grant until the month is closed. They are never due.
 */
const agendaAfter = (before: Agenda, event: CreditsEvent): Agenda => {
  const { period, subscription, grants, carried } = evolve({ ...noBook, ...before }, event);
  const agenda = { period, subscription, grants: grants.filter(expires) };
  if (!carried) return agenda;
  const openGrants = carried.items.openGrants.filter(expires);
  return { ...agenda, carried: { ...carried, items: { ...noItems, openGrants } } };
};

const expires = ({ expiresAt }: Grant): boolean => expiresAt !== null;

interface HoldRow {
  readonly workspace_id: string;
  readonly mode: Mode;
  readonly reservation_id: string;
  readonly reading_id: string;
  readonly amount: number | string;
  readonly reserved_at: string;
  /** Set by the hold fence. A hold inserted again is fenced again, which changes nothing. */
  readonly confirmed: boolean;
}

const movesOfHolds = [
  selectEvents(creditsEvents, 'CreditsReserved', 'CreditsCaptured', 'CreditsReleased'),
  selectEvents(testBookEvents, 'CreditsReserved', 'CreditsCaptured', 'CreditsReleased'),
] as const;

const holds = view<HoldRow, RecordedOf<typeof movesOfHolds>>({
  table: 'billing.hold',
  key: ['workspace_id', 'mode', 'reservation_id'],
  external: ['confirmed'],
  keyOf: ({ stream, data }) => ({
    workspace_id: streamId(stream),
    mode: modeOfStream(stream),
    reservation_id: data.reservationId,
  }),
  evolve(row, event) {
    if (event.type !== 'CreditsReserved') return null;
    const { reservationId, readingId, amount } = event.data;
    return (
      row ?? {
        workspace_id: streamId(event.stream),
        mode: modeOfStream(event.stream),
        reservation_id: reservationId,
        reading_id: readingId,
        amount,
        reserved_at: event.metadata.occurredAt,
        confirmed: false,
      }
    );
  },
});

/** One row per open reservation. */
export const holdProjection = defineProjection({
  name: 'billing.hold.v1',
  catalogues: movesOfHolds,
  views: [holds],
});

export const modeOf = (livemode: boolean): Mode => (livemode ? 'live' : 'test');

export const modeOfStream = (stream: string): Mode => modeOf(categoryOf(stream) === creditsEvents.category);

/** Nothing deletes a book. Without its row, the movement of an event would be lost in silence: this parks the book. */
export class RowMissing extends Error {
  override readonly name = 'RowMissing';
  constructor() {
    super('The row of the book is missing: replay its stream');
  }
}

/** For the worker, which keeps them, and the operator, who may rebuild them. Loads no framework. */
export const billingProjections: readonly Projection[] = [balanceProjection, holdProjection];
