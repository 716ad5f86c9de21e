import { instant } from '@app/event-sourcing/core/clock.js';
import type { Decider } from '@app/event-sourcing/core/decider.js';
import { accept, assertNever, ignore, reject, type Decision } from '@app/event-sourcing/core/decision.js';
import { PACKS, PLANS } from '../../contracts/catalogue.js';
import type { CreditsEvent, Hold } from '../../contracts/events.js';
import { allocate, hasExpired } from './burn-order.js';
import { monthOf } from './calendar.js';
import type { CreditsCommand, CreditsRejection } from './credits.commands.js';
import { available, evolve, holdOf, isSettled, noBook, type Credits } from './credits.state.js';
import { dueBy } from './due.js';

type CreditsDecision = Decision<CreditsEvent, CreditsRejection>;
type Of<T extends CreditsCommand['type']> = Extract<CreditsCommand, { type: T }>;

/** Events due when the command arrived, and the book after them. */
type Due = ReturnType<typeof dueBy>;

const decide = (command: CreditsCommand, book: Credits): CreditsDecision => {
  if (command.type === 'OpenBook') {
    if (book.workspaceId !== null) return ignore('AlreadyOpen');
    const { workspaceId, now } = command;
    return accept({ type: 'BookOpened', data: { workspaceId, period: monthOf(now) } });
  }
  if (book.workspaceId === null) return reject('BookNotOpen', null);
  const due = dueBy(book, command.now);
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
      return cancel(due);
    case 'PurchasePack':
      return purchase(command, due);
    case 'AdjustCredits':
      return adjust(command, due);
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

const reserve = (command: Of<'ReserveCredits'>, { events, state }: Due): CreditsDecision => {
  const { reservationId, readingId, amount } = command;
  if (holdOf(state, reservationId)) return ignore('AlreadyReserved');
  if (isSettled(state, reservationId)) return reject('ReservationSettled', { reservationId });
  const allocations = allocate(state.grants, amount);
  if (!allocations) {
    return reject('InsufficientCredits', { required: amount, available: available(state) });
  }
  return accept(...events, {
    type: 'CreditsReserved',
    data: { reservationId, readingId, amount, allocations },
  });
};

type Settlement = Of<'CaptureCredits'> | Of<'ReleaseCredits'>;

/** A reservation settles exactly once: only an open hold can be captured or released. */
const settle = (
  command: Settlement,
  { events, state }: Due,
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

/** The first month is granted at once. A change of plan takes effect with the next monthly grant. */
const subscribe = (command: Of<'SubscribeToPlan'>, { events, state }: Due): CreditsDecision => {
  const { plan, approvalRef, now } = command;
  const current = state.subscription;
  if (current?.plan === plan) return ignore('AlreadySubscribed');
  if (PLANS[plan].approvalRequired && !approvalRef) return reject('ApprovalRequired', { plan });
  if (current) {
    const { subscriptionId, plan: previousPlan } = current;
    const data = { subscriptionId, previousPlan, plan, approvalRef };
    return accept(...events, { type: 'SubscriptionChanged', data });
  }
  const startedAt = instant(now);
  const started: CreditsEvent = {
    type: 'SubscriptionStarted',
    data: {
      subscriptionId: `sub${state.subscriptions + 1}`,
      plan,
      anchorDay: Number(startedAt.slice(8, 10)),
      startedAt,
      approvalRef,
    },
  };
  return accept(...events, started, ...dueBy(evolve(state, started), now).events);
};

const cancel = ({ events, state }: Due): CreditsDecision => {
  if (!state.subscription) return ignore('NotSubscribed');
  const { subscriptionId, plan } = state.subscription;
  return accept(...events, { type: 'SubscriptionCancelled', data: { subscriptionId, plan } });
};

const purchase = ({ pack, orderRef }: Of<'PurchasePack'>, { events, state }: Due): CreditsDecision => {
  if (state.orderRefs.includes(orderRef)) return ignore('AlreadyPurchased');
  const { credits: granted, priceCents } = PACKS[pack];
  const data = { grantId: `pack:${orderRef}`, pack, orderRef, credits: granted, priceCents };
  return accept(...events, { type: 'PackPurchased', data });
};

const adjust = (command: Of<'AdjustCredits'>, { events, state }: Due): CreditsDecision => {
  const { adjustmentId, amount, reason, approvedBy, reversesEventId, reference, actor } = command;
  const { expiresAt = null, grantId } = command;
  if (state.adjustmentIds.includes(adjustmentId)) return ignore('AlreadyAdjusted');
  const allocations =
    amount > 0
      ? [{ grantId: `adjustment:${adjustmentId}`, amount }]
      : allocate(
          grantId ? state.grants.filter((one) => one.grantId === grantId) : state.grants,
          -amount,
        )?.map((one) => ({ ...one, amount: -one.amount }));
  if (!allocations) {
    return reject('InsufficientCredits', { required: -amount, available: available(state) });
  }
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
  };
  return accept(...events, { type: 'CreditsAdjusted', data });
};
