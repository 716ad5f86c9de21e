import { assertNever, reject } from '@app/event-sourcing/core/decision.js';
import type { CreditsEvent } from '../../contracts/events.js';
import { restored, type PackRefund, type Restores } from './pack-refunds.js';

/** An entry that corrections name, as its book records it. */
export interface Original {
  /** Credits that corrections may give back in all; negative: that they may take back. 0: nothing to reverse. */
  readonly reversible: number;
  /** Sum of the corrections so far. */
  readonly reversed: number;
  /** The grant that credits are taken back from. */
  readonly grantId: string | null;
  /** If the entry is the refund of a pack. */
  readonly refund?: PackRefund;
}

/** What a book records of the entries that a correction names. */
export interface KnownEntries {
  /** Corrections in the book when it was read. With another number by now, the rest is out of date. */
  readonly corrections: number;
  /** By event id. */
  readonly originals: Readonly<Record<string, Original>>;
}

export const nothingKnown: KnownEntries = { corrections: 0, originals: {} };

/** Adds an event of the book, in order, to what is known of the entries with these ids. */
export const learn = (
  known: KnownEntries,
  event: CreditsEvent & { readonly id: string },
  ids: ReadonlySet<string>,
): KnownEntries => {
  let { corrections, originals } = known;
  if (ids.has(event.id) && !originals[event.id])
    originals = { ...originals, [event.id]: { ...originalOf(event), reversed: 0 } };
  if (event.type === 'CreditsAdjusted') {
    corrections += 1;
    const { amount, reversesEventId } = event.data;
    const original = reversesEventId === null ? undefined : originals[reversesEventId];
    if (original)
      originals = {
        ...originals,
        [reversesEventId!]: { ...original, reversed: original.reversed + amount },
      };
  }
  return { corrections, originals };
};

const originalOf = ({ type, data }: CreditsEvent): Pick<Original, 'reversible' | 'grantId'> => {
  switch (type) {
    case 'PlanGranted':
    case 'PackPurchased':
      return { reversible: -data.credits, grantId: data.grantId };
    case 'CreditsCaptured':
    case 'GrantExpired':
      return { reversible: data.amount, grantId: null };
    case 'CreditsReleased':
      return { reversible: expiredOf(data.allocations), grantId: null };
    case 'CreditsAdjusted':
      return {
        reversible: -data.amount,
        grantId: data.amount > 0 ? `adjustment:${data.adjustmentId}` : null,
      };
    case 'BookOpened':
    case 'SubscriptionStarted':
    case 'SubscriptionChanged':
    case 'SubscriptionCancelled':
    case 'CreditsReserved':
    case 'PeriodCarried':
    case 'PeriodClosed':
      return { reversible: 0, grantId: null };
    default:
      return assertNever(type);
  }
};

/** Released credits are back already, except those that expired. */
const expiredOf = (allocations: readonly { readonly to: string; readonly amount: number }[]): number =>
  allocations.reduce((sum, { to, amount }) => (to === 'expired' ? sum + amount : sum), 0);

/**
 * Why a correction cannot reverse an entry by this amount; `null` when it can. All corrections of an entry together
 * give or take at most what the entry moved, so a full reversal happens once.
 * @param once refuses when any correction names the entry already
 */
export const refuseReversal = (known: KnownEntries, eventId: string, amount: number, once: boolean) => {
  const original = known.originals[eventId];
  if (!original || original.reversible === 0) return reject('NothingToReverse', { eventId });
  const { reversible, reversed } = original;
  const after = reversed + amount;
  const isWithin = reversible > 0 ? after >= 0 && after <= reversible : after <= 0 && after >= reversible;
  if (isWithin && !(once && reversed !== 0)) return null;
  return reject('ReversalExceeded', { eventId, original: reversible, reversed });
};

/** What is known after a correction that names an entry. */
export const withReversal = (known: KnownEntries, eventId: string, amount: number): KnownEntries => {
  const original = known.originals[eventId]!;
  return {
    ...known,
    originals: { ...known.originals, [eventId]: { ...original, reversed: original.reversed + amount } },
  };
};

/** What an entry restores: only the reversal of a pack's refund does. */
export const restoredBy = (
  { originals }: KnownEntries,
  reversesEventId: string | null,
  amount: number,
): Restores | undefined => {
  const original = reversesEventId === null ? undefined : originals[reversesEventId];
  return original?.refund && amount > 0 ? restored(original.refund, original.reversed, amount) : undefined;
};
