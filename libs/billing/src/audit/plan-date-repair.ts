import { instant } from '@app/event-sourcing/core/clock.js';
import { uuid5 } from '@app/event-sourcing/core/event-id.js';
import type { Recorded } from '@app/event-sourcing/core/event.js';
import type { DateAdjustment, DatePlan } from '../contracts/date-repair.js';
import type { CreditsEvent, CreditsEventOf } from '../contracts/events.js';
import { endOfMonth } from '../domain/credits/calendar.js';
import { evolve, noBook } from '../domain/credits/credits.state.js';
import { repairReference } from './repair-reference.js';
import { isContradicted } from './record-time.js';

/** The id under which a book knows the adjustment of a reference. */
export const adjustmentIdOf = (workspaceId: string, reference: string): string =>
  uuid5(workspaceId, 'adjustment', reference);

type Of<T extends CreditsEvent['type']> = Recorded<CreditsEventOf<T>>;

interface Term {
  readonly expiresAt: string | null;
  readonly validFrom: string | null;
}

/** Corrections that two operators signed have ids of their proposals: their reference says what they repair. */
const bookedAs = (
  workspaceId: string,
  { adjustmentId, correctionId, reference }: CreditsEventOf<'CreditsAdjusted'>['data'],
): string => (correctionId && reference ? adjustmentIdOf(workspaceId, reference) : adjustmentId);

/** What is known of a book while its repair is planned. */
interface Damage {
  /** By grant. */
  readonly grants: ReadonlyMap<string, Term>;
  /** Amounts of the adjustments booked so far, by id. */
  readonly booked: Map<string, number>;
  /** Credits left in each grant. */
  readonly left: ReadonlyMap<string, number>;
  readonly now: number;
  /** CLOCK_REFUSE_MS */
  readonly boundMs: number;
}

/**
 * Plans the compensation of entries that a writer made ahead of time. Credits that expired too early come back with
 * their original expiry. Grants of future months are taken back, and come back when their month begins. Entries stay as
 * they are, and so do closed months.
 * @param now the trusted time (ms)
 * @param boundMs CLOCK_REFUSE_MS
 */
export const planDateRepair = (
  workspaceId: string,
  events: readonly Recorded<CreditsEvent>[],
  now: number,
  boundMs: number,
): DatePlan => {
  const state = events.reduce(evolve, noBook);
  const damage: Damage = {
    grants: new Map(events.flatMap(granted)),
    booked: new Map(
      events.flatMap(({ type, data }) =>
        type === 'CreditsAdjusted' ? [[bookedAs(workspaceId, data), data.amount] as const] : [],
      ),
    ),
    left: new Map(state.grants.map(({ grantId, remaining }) => [grantId, remaining])),
    now,
    boundMs,
  };
  const amountBooked = (reference: string): number | undefined =>
    damage.booked.get(adjustmentIdOf(workspaceId, reference));
  const misdated = events.filter((event) => isContradicted(event, boundMs));
  const planned = misdated.flatMap((event) => compensation(event, damage, amountBooked));
  const missed = (one: DateAdjustment): boolean =>
    one.amount > 0 && one.expiresAt !== null && Date.parse(one.expiresAt) <= now;
  const open = planned.filter(({ reference }) => amountBooked(reference) === undefined);
  return {
    workspaceId,
    misdated: misdated.length,
    adjustments: open.filter((one) => !missed(one)),
    notes: [
      ...closedEarly(misdated, state.period, damage),
      ...open
        .filter(missed)
        .map(
          ({ amount, expiresAt, reversesEventId }) =>
            `${amount} credits (event ${reversesEventId}) would have expired on ${expiresAt} in any case: they do not come back by themselves`,
        ),
      ...misdated.flatMap((event) => spentEarly(event, damage, amountBooked)),
    ],
  };
};

const granted = ({ type, data }: Recorded<CreditsEvent>): (readonly [string, Term])[] => {
  if (type === 'PlanGranted')
    return [[data.grantId, { expiresAt: data.expiresAt, validFrom: data.validFrom }]];
  if (type === 'CreditsAdjusted' && data.amount > 0)
    return [[`adjustment:${data.adjustmentId}`, { expiresAt: data.expiresAt ?? null, validFrom: null }]];
  return [];
};

/** Whether that instant had not come yet when the store recorded the event. */
const isFuture = (
  at: string | null | undefined,
  { recordedAt }: Recorded<CreditsEvent>,
  { boundMs }: Damage,
): boolean => at !== null && at !== undefined && Date.parse(at) > recordedAt! + boundMs;

const compensation = (
  event: Recorded<CreditsEvent>,
  damage: Damage,
  amountBooked: (reference: string) => number | undefined,
): DateAdjustment[] => {
  switch (event.type) {
    case 'GrantExpired':
      return isFuture(event.data.expiredAt, event, damage)
        ? [comesBack(event, damage, event.data.grantId, event.data.amount, repairReference(event.id))]
        : [];
    case 'CreditsReleased':
      return event.data.allocations
        .filter(
          ({ grantId, to }) =>
            to === 'expired' && isFuture(damage.grants.get(grantId)?.expiresAt, event, damage),
        )
        .map(({ grantId, amount }) =>
          comesBack(event, damage, grantId, amount, repairReference(event.id, grantId)),
        );
    case 'PlanGranted':
      return isFuture(event.data.validFrom, event, damage) ? takenBack(event, damage, amountBooked) : [];
    default:
      return [];
  }
};

const causeOf = (event: Recorded<CreditsEvent>): string =>
  `a clock was wrong: ${event.type} dated ${event.metadata.occurredAt} was recorded at ${instant(event.recordedAt!)}`;

const comesBack = (
  event: Recorded<CreditsEvent>,
  { grants, now }: Damage,
  grantId: string,
  amount: number,
  reference: string,
): DateAdjustment => {
  const { expiresAt = null, validFrom = null } = grants.get(grantId) ?? {};
  return {
    reference,
    reversesEventId: event.id,
    cause: causeOf(event),
    amount,
    grantId: null,
    expiresAt,
    notBefore: validFrom !== null && Date.parse(validFrom) > now ? validFrom : null,
  };
};

/** Out now, and in again when the month begins: the subscription itself does not grant that month again. */
const takenBack = (
  event: Of<'PlanGranted'>,
  damage: Damage,
  amountBooked: (reference: string) => number | undefined,
): DateAdjustment[] => {
  const { grantId, validFrom } = event.data;
  const [out, back] = [repairReference(event.id), repairReference(event.id, 'month')];
  const taken = amountBooked(out);
  const hasBegun = Date.parse(validFrom) <= damage.now;
  const amount = taken === undefined ? (hasBegun ? 0 : (damage.left.get(grantId) ?? 0)) : -taken;
  if (amount === 0) return [];
  const takes = {
    reversesEventId: event.id,
    cause: causeOf(event),
    grantId,
    expiresAt: null,
    notBefore: null,
  };
  return [{ ...takes, reference: out, amount: -amount }, comesBack(event, damage, grantId, amount, back)];
};

const spentEarly = (
  event: Recorded<CreditsEvent>,
  damage: Damage,
  amountBooked: (reference: string) => number | undefined,
): string[] => {
  if (event.type !== 'PlanGranted' || !isFuture(event.data.validFrom, event, damage)) return [];
  const { left, now } = damage;
  const { grantId, credits, validFrom } = event.data;
  const spent = credits + (amountBooked(repairReference(event.id)) ?? 0) - (left.get(grantId) ?? 0);
  return spent > 0 && Date.parse(validFrom) > now
    ? [`${spent} credits of ${grantId}, valid from ${validFrom}, were used, held or expired before`]
    : [];
};

const closedEarly = (
  misdated: readonly Recorded<CreditsEvent>[],
  openPeriod: string,
  damage: Damage,
): string[] => {
  const months = misdated.flatMap((event) =>
    event.type === 'PeriodClosed' && isFuture(instant(endOfMonth(event.data.period)), event, damage)
      ? [`${event.data.period} (closed at ${instant(event.recordedAt!)})`]
      : [],
  );
  return months.length === 0
    ? []
    : [
        `closed before their end, and they stay closed: ${months.join(', ')}; entries since then have their true dates and belong to the open month, ${openPeriod} or later`,
      ];
};
