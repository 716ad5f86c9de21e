import {
  type Rejection,
  type Decider,
  accept,
  assertNever,
  ignore,
  reject,
  type Decision,
} from '#event-sourcing/core/decider.js';
import type { Effective } from '../contracts/messages.js';
import { type PackId, type PlanId, PACKS, PLANS } from '../contracts/catalogue.js';
import type { CreditsEventOf, CreditsEvent, Hold, Subscription } from '../contracts/events.js';
import { Reversals, movedBy, type ReversedValue, usedBy } from './value.js';
import { instant } from '#event-sourcing/core/clock.js';
import {
  allocate,
  hasExpired,
  available,
  evolve,
  holdOf,
  isSettled,
  noBook,
  orderLineOf,
  type Credits,
} from './credits.state.js';
import { monthOf } from './calendar.js';
import { bytesOf, MOST_APPEND_BYTES } from './carried.js';
import { dueBy, type DueEvents } from './due.js';

/** Every command carries its decision time, in milliseconds. */
interface At {
  readonly now: number;
}

/** Whose entry it is: `operator:<name>`. */
interface By {
  readonly actor: string;
}

/** An entry of a correction that two operators signed. */
export interface EntryToBook {
  readonly adjustmentId: string;
  readonly amount: number;
  readonly reason: string;
  readonly reversesEventId: string | null;
  readonly reference: string;
  /** Of credits that it adds (RFC 3339); `null`: never. */
  readonly expiresAt: string | null;
  /** The grant that it takes credits from; `null`: in burn order. */
  readonly grantId: string | null;
  /** Absent in the entry of a document that failed, which no operator signs. */
  readonly signed?: NonNullable<CreditsEventOf<'CreditsAdjusted'>['data']['signed']>;
}

export type CreditsCommand = At &
  (
    | { readonly type: 'OpenBook'; readonly workspaceId: string }
    | {
        readonly type: 'ReserveCredits';
        /** In the order in which credits go to them. */
        readonly reservations: readonly { readonly reservationId: string; readonly readingId: string }[];
        readonly amount: number;
        /** All of them or none; otherwise as many as the credits allow. */
        readonly all: boolean;
      }
    | { readonly type: 'CaptureCredits'; readonly reservationId: string; readonly causeEventId: string }
    | { readonly type: 'ReleaseCredits'; readonly reservationId: string; readonly causeEventId: string }
    | (By & {
        readonly type: 'SubscribeToPlan';
        readonly plan: PlanId;
        readonly approvalRef: string | null;
        readonly when?: Effective;
        /** Refuse to start a first subscription. */
        readonly onlyChange?: boolean;
      })
    | (By & {
        readonly type: 'CancelSubscription';
        readonly when?: Effective;
        readonly reference?: string | null;
      })
    | (By & { readonly type: 'PurchasePack'; readonly pack: PackId; readonly orderRef: string })
    | (By & {
        /** Books all entries, or none of them. */
        readonly type: 'BookCorrection';
        /** Empty for the entry of a document that failed. */
        readonly correctionId: string;
        readonly approvedBy: string;
        readonly entries: readonly EntryToBook[];
        /** Of the whole book. With another number of corrections by now, it is out of date. */
        readonly known: Reversals;
      })
    /** Records as much of what is due as one append takes. */
    | { readonly type: 'RecordDue' }
  );

/** As its caller makes it. Without an actor, it is who sends it. */
export type SentCommand = CreditsCommand extends infer C
  ? C extends CreditsCommand
    ? Omit<C, 'actor'> & { readonly actor?: string }
    : never
  : never;

export type CreditsRejection =
  | Rejection<'BookNotOpen', null>
  | Rejection<'InsufficientCredits', { readonly required: number; readonly available: number }>
  | Rejection<'ApprovalRequired', { readonly plan: PlanId }>
  | Rejection<'NotSubscribed', null>
  /** Another correction was booked since the book was read. */
  | Rejection<'BookChanged', null>
  /** Bytes: the event store does not take so many at once. */
  | Rejection<'TooLarge', { readonly size: number; readonly most: number }>
  /** What is due does not fit the same append: record it first, with as many RecordDue as it takes. */
  | Rejection<'TooMuchDue', null>
  /** The book has no such entry, or the entry moved nothing that a correction could undo. */
  | Rejection<'NothingToReverse', { readonly eventId: string }>
  /** Signed credits: what the entry allows to reverse in all, and what is reversed already. */
  | Rejection<
      'ReversalExceeded',
      { readonly eventId: string; readonly original: number; readonly reversed: number }
    >;

type CreditsDecision = Decision<CreditsEvent, CreditsRejection>;
type Of<T extends CreditsCommand['type']> = Extract<CreditsCommand, { type: T }>;

const decide = (command: CreditsCommand, book: Credits): CreditsDecision => {
  if (command.type === 'OpenBook') {
    if (book.workspaceId !== null) return ignore('AlreadyOpen');
    const { workspaceId, now } = command;
    return accept({ type: 'BookOpened', data: { workspaceId, period: monthOf(now) } });
  }
  if (book.workspaceId === null) return reject('BookNotOpen', null);
  const due = dueBy(book, command.now);
  if (!due.isAll && command.type !== 'RecordDue') return reject('TooMuchDue', null);
  switch (command.type) {
    case 'ReserveCredits':
      return reserve(command, due);
    case 'CaptureCredits':
      return settle(command, due, capture);
    case 'ReleaseCredits':
      return settle(command, due, release);
    case 'SubscribeToPlan':
      return subscribe(command, due);
    case 'CancelSubscription':
      return cancel(command, due);
    case 'PurchasePack':
      return purchase(command, due);
    case 'BookCorrection':
      return bookCorrection(command, due);
    case 'RecordDue':
      return due.events.length > 0 ? accept(...due.events) : ignore('NothingDue');
    default:
      return assertNever(command);
  }
};

/** How a credit book behaves. Pure: the command carries the time, and every decision first records what is due. */
export const credits: Decider<CreditsCommand, CreditsEvent, Credits, CreditsRejection> = {
  initialState: noBook,
  decide,
  evolve,
};

/**
 * One append for all. Reservations that are in the book already, open or settled, are left out: a request of the same
 * batch holds them. So a repeated request is not refused for want of the credits that they took.
 */
const reserve = ({ reservations, amount, all }: Of<'ReserveCredits'>, due: DueEvents): CreditsDecision => {
  const wanted = reservations.filter(
    ({ reservationId }) => !holdOf(due.state, reservationId) && !isSettled(due.state, reservationId),
  );
  if (wanted.length === 0) return ignore('AlreadyReserved');
  const events = [...due.events];
  let { state } = due;
  for (const { reservationId, readingId } of wanted) {
    const allocations = allocate(state.grants, amount);
    if (!allocations) {
      const isNone = events.length === due.events.length;
      if (!all && !isNone) break;
      if (!all && wanted.length < reservations.length) return ignore('AlreadyReserved');
      const required = all ? amount * wanted.length : amount;
      return reject('InsufficientCredits', { required, available: available(due.state) });
    }
    const event = {
      type: 'CreditsReserved',
      data: { reservationId, readingId, amount, allocations },
    } as const;
    events.push(event);
    state = evolve(state, event);
  }
  return tooLarge(events, due.events) ?? accept(...events);
};

type Settlement = Of<'CaptureCredits'> | Of<'ReleaseCredits'>;

/** A reservation settles exactly once: only an open hold can be captured or released. */
const settle = (
  command: Settlement,
  { events, state }: DueEvents,
  event: (hold: Hold, command: Settlement, state: Credits) => CreditsEvent,
): CreditsDecision => {
  const hold = holdOf(state, command.reservationId);
  if (hold) return accept(...events, event(hold, command, state));
  return ignore(isSettled(state, command.reservationId) ? 'AlreadySettled' : 'UnknownReservation');
};

const capture = ({ reservationId, readingId, amount }: Hold, { causeEventId }: Settlement): CreditsEvent => ({
  type: 'CreditsCaptured',
  data: { reservationId, readingId, amount, causeEventId },
});

/** A hold outlives the expiry of its grants, but its credits of an expired grant cannot be spent again. */
const release = (hold: Hold, { causeEventId, now }: Settlement, { grants }: Credits): CreditsEvent => {
  const { reservationId, readingId, amount } = hold;
  const expired = new Set(grants.filter((grant) => hasExpired(grant, now)).map(({ grantId }) => grantId));
  const allocations = hold.allocations.map((allocation) => ({
    ...allocation,
    to: expired.has(allocation.grantId) ? ('expired' as const) : ('available' as const),
  }));
  return { type: 'CreditsReleased', data: { reservationId, readingId, amount, allocations, causeEventId } };
};

export const packGrantId = (orderRef: string, pack: PackId): string => `pack:${orderRef}:${pack}`;

const purchase = (command: Of<'PurchasePack'>, { events, state }: DueEvents): CreditsDecision => {
  const { pack, orderRef, actor } = command;
  const grantId = packGrantId(orderRef, pack);
  if (state.orderRefs.includes(orderLineOf(grantId))) return ignore('AlreadyPurchased');
  const { credits: granted, priceCents } = PACKS[pack];
  const data = { grantId, pack, orderRef, credits: granted, priceCents, actor };
  return accept(...events, { type: 'PackPurchased', data });
};

/** All entries are booked together, or none is. Those that are in the book already are left out. */
const bookCorrection = (command: Of<'BookCorrection'>, due: DueEvents): CreditsDecision => {
  const { correctionId, approvedBy, actor } = command;
  const entries = command.entries.filter((one) => !due.state.adjustmentIds.includes(one.adjustmentId));
  if (entries.length === 0) return ignore('AlreadyBooked');
  const isReversal = entries.some(({ reversesEventId }) => reversesEventId !== null);
  if (isReversal && command.known.corrections !== due.state.adjustmentIds.length)
    return reject('BookChanged', null);
  const known = new Reversals(command.known);
  let { state } = due;
  const events = [...due.events];
  for (const entry of entries) {
    const { reversesEventId, amount } = entry;
    if (reversesEventId !== null) {
      const refusal = known.refuse(reversesEventId, amount);
      if (refusal) return refusal;
    }
    const value = known.valueOf(reversesEventId);
    const event = adjustment({ ...entry, approvedBy, actor, correctionId, value }, state);
    if (event.type !== 'CreditsAdjusted') return event;
    known.see({ ...event, id: entry.adjustmentId }, usedBy(event, state));
    events.push(event);
    state = evolve(state, event);
  }
  return tooLarge(events, due.events) ?? accept(...events);
};

/** All entries are appended at once, after what is due. */
const tooLarge = (events: readonly CreditsEvent[], due: readonly CreditsEvent[]) => {
  const size = bytesOf(events.slice(due.length));
  if (size > MOST_APPEND_BYTES) return reject('TooLarge', { size, most: MOST_APPEND_BYTES });
  return bytesOf(events) > MOST_APPEND_BYTES ? reject('TooMuchDue', null) : null;
};

type Adjustment = EntryToBook &
  Pick<Of<'BookCorrection'>, 'approvedBy' | 'actor' | 'correctionId'> & {
    /** Of the entry that it reverses. */
    readonly value: ReversedValue | undefined;
  };

/** The entry, or a refusal when the grants do not have the credits that it takes. */
const adjustment = (
  { expiresAt, grantId, correctionId, signed, value, ...entry }: Adjustment,
  state: Credits,
): CreditsEventOf<'CreditsAdjusted'> | (CreditsRejection & { type?: never; kind: 'reject' }) => {
  const { adjustmentId, amount } = entry;
  const sources = grantId ? state.grants.filter((one) => one.grantId === grantId) : state.grants;
  const allocations =
    amount > 0
      ? [{ grantId: `adjustment:${adjustmentId}`, amount }]
      : allocate(sources, -amount)?.map((one) => ({ ...one, amount: -one.amount }));
  if (!allocations) {
    const left = grantId ? sources.reduce((sum, { remaining }) => sum + remaining, 0) : available(state);
    return reject('InsufficientCredits', { required: -amount, available: left });
  }
  const { reason, approvedBy, reversesEventId, reference, actor } = entry;
  const data = {
    adjustmentId,
    amount,
    allocations,
    reason,
    approvedBy,
    reversesEventId,
    ...(expiresAt && { expiresAt }),
    reference,
    actor,
    ...(correctionId && { correctionId }),
    ...(signed && { signed }),
    ...movedBy(value, { amount, allocations }),
  };
  return { type: 'CreditsAdjusted', data };
};

/** The subscription that grants or has granted the present month; `null` when there is none, or it has ended. */
export const currentSubscription = (
  { subscription }: Pick<Credits, 'subscription'>,
  now: number,
): Subscription | null =>
  subscription?.endsAt && Date.parse(subscription.endsAt) <= now ? null : subscription;

/**
 * A first subscription grants its month at once. A change takes effect with the next grant, or now: then the present
 * subscription ends, and another one grants its first month. A change to the present plan takes back an earlier change or
 * a cancellation, whenever it takes effect: its month is granted already.
 */
export const subscribe = (command: Of<'SubscribeToPlan'>, { events, state }: DueEvents): CreditsDecision => {
  const { plan, approvalRef, now, when = 'period_end', actor } = command;
  const current = currentSubscription(state, now);
  if (!current && command.onlyChange) return reject('NotSubscribed', null);
  const isPresent = current?.plan === plan;
  const isAgreed = current && !current.endsAt && (current.nextPlan ?? current.plan) === plan;
  if (isAgreed && (when === 'period_end' || isPresent)) return ignore('AlreadySubscribed');
  if (PLANS[plan].approvalRequired && !approvalRef) return reject('ApprovalRequired', { plan });
  if (current && (when === 'period_end' || isPresent)) {
    const { subscriptionId, plan: previousPlan, nextGrantAt: effectiveAt } = current;
    const data = { subscriptionId, previousPlan, plan, approvalRef, effectiveAt, actor };
    return accept(...events, { type: 'SubscriptionChanged', data });
  }
  const started = starts(state, command, actor);
  const own = current ? [ends(current, instant(now), null, actor), started] : [started];
  const after = own.reduce(evolve, state);
  return accept(...events, ...own, ...dueBy(after, now).events);
};

const starts = (
  { subscriptions }: Credits,
  { plan, approvalRef, now }: Of<'SubscribeToPlan'>,
  actor: string,
): CreditsEvent => {
  const startedAt = instant(now);
  const subscriptionId = `sub${subscriptions + 1}`;
  const anchorDay = Number(startedAt.slice(8, 10));
  const data = { subscriptionId, plan, anchorDay, startedAt, approvalRef, actor };
  return { type: 'SubscriptionStarted', data };
};

/** Credits already granted stay until they expire: taking them is a correction. */
export const cancel = (command: Of<'CancelSubscription'>, { events, state }: DueEvents): CreditsDecision => {
  const { now, when = 'period_end', reference = null, actor } = command;
  const current = currentSubscription(state, now);
  if (!current) return ignore('NotSubscribed');
  if (when === 'period_end' && current.endsAt) return ignore('AlreadyCancelled');
  const effectiveAt = when === 'now' ? instant(now) : current.nextGrantAt;
  return accept(...events, ends(current, effectiveAt, reference, actor));
};

const ends = (
  { subscriptionId, plan }: Subscription,
  effectiveAt: string,
  reference: string | null,
  actor: string,
): CreditsEventOf<'SubscriptionCancelled'> => ({
  type: 'SubscriptionCancelled',
  data: { subscriptionId, plan, effectiveAt, reference, actor },
});
