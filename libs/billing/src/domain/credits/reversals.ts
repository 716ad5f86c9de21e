import { assertNever, reject } from '#event-sourcing/core/decision.js';
import type { CreditsEvent, CreditsEventOf } from '../../contracts/events.js';
import { corrected, sharesValue, valueHeld, type ReversedValue } from './reversed-value.js';
import type { UsedCredits } from './value.js';

/** An entry that corrections name, as its book records it. */
export interface Original {
  /** Credits that corrections may give back in all; negative: that they may take back. 0: nothing to reverse. */
  readonly reversible: number;
  /** Sum of the corrections so far. */
  readonly reversed: number;
  /** The grant that credits are taken back from. */
  readonly grantId: string | null;
  /** Only a command that books needs it. */
  readonly value?: ReversedValue;
}

/** What a book records of the entries that a correction names. */
export interface KnownEntries {
  /** Corrections in the book when it was read. With another number by now, the rest is out of date. */
  readonly corrections: number;
  /** By event id. */
  readonly originals: Readonly<Record<string, Original>>;
}

export const nothingKnown: KnownEntries = { corrections: 0, originals: {} };

/**
 * Adds an event of the book, in order, to what is known of the entries with these ids.
 * @param used what it took from grants. Without it, nothing is known of values
 */
export const learn = (
  known: KnownEntries,
  event: CreditsEvent & { readonly id: string },
  ids: ReadonlySet<string>,
  used?: readonly UsedCredits[],
): KnownEntries => {
  const isCorrection = event.type === 'CreditsAdjusted';
  const corrections = known.corrections + (isCorrection ? 1 : 0);
  const { originals } = isCorrection ? withReversal(known, event.data, used ?? []) : known;
  if (!ids.has(event.id) || originals[event.id]) return { corrections, originals };
  const { reversible, grantId } = originalOf(event);
  const reversed = isCorrection ? originals[event.data.reversesEventId ?? '']?.value : undefined;
  const value = isCorrection && sharesValue(reversed, event.data) ? reversed : used && valueOf(event, used);
  const learnt = { reversible, reversed: 0, grantId, ...(value && { value }) };
  return { corrections, originals: { ...originals, [event.id]: learnt } };
};

/** The value of an entry that no correction names yet. @param used what it took from grants */
export const valueOf = (
  event: CreditsEvent & { readonly id: string },
  used: readonly UsedCredits[],
): ReversedValue => {
  const { counts, grantId } = originalOf(event);
  return valueHeld(event.id, counts, grantId, used);
};

/** What corrections of an entry may do, and what their value counts as. */
const originalOf = ({
  id,
  type,
  data,
}: CreditsEvent & { readonly id: string }): Pick<Original, 'reversible' | 'grantId'> &
  Pick<ReversedValue, 'counts'> => {
  switch (type) {
    case 'PlanGranted':
    case 'PackPurchased': {
      const { credits, grantId } = data;
      return { reversible: -credits, grantId, counts: { as: 'refunds', of: grantId } };
    }
    case 'CreditsCaptured':
      return { reversible: data.amount, grantId: null, counts: { as: 'earned', of: id } };
    case 'GrantExpired':
      return { reversible: data.amount, grantId: null, counts: { as: 'breakage', of: id } };
    case 'CreditsReleased':
      return {
        reversible: expiredOf(data.allocations),
        grantId: null,
        counts: { as: 'breakage', of: id },
      };
    case 'CreditsAdjusted':
      return {
        reversible: -data.amount,
        grantId: data.amount > 0 ? `adjustment:${data.adjustmentId}` : null,
        counts: data.counts ?? null,
      };
    case 'BookOpened':
    case 'SubscriptionStarted':
    case 'SubscriptionChanged':
    case 'SubscriptionCancelled':
    case 'CreditsReserved':
    case 'PeriodCarried':
    case 'PeriodClosed':
      return { reversible: 0, grantId: null, counts: null };
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

/** What is known after a correction, which may name an entry. @param used what it took from grants */
export const withReversal = (
  known: KnownEntries,
  data: CreditsEventOf<'CreditsAdjusted'>['data'],
  used: readonly UsedCredits[],
): KnownEntries => {
  const original = known.originals[data.reversesEventId ?? ''];
  if (!original) return known;
  const value = original.value && corrected(original.value, data, used);
  const originals = Object.entries(known.originals).map(([id, one]) => {
    const reversed = id === data.reversesEventId ? one.reversed + data.amount : one.reversed;
    const isHeld = value !== undefined && one.value?.holder === value.holder;
    return [id, { ...one, reversed, ...(isHeld && { value }) }] as const;
  });
  return { ...known, originals: Object.fromEntries(originals) };
};
