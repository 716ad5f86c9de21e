import type { CreditsEventOf } from '../../contracts/events.js';
import { worth, type UsedCredits } from './value.js';

type Adjusted = CreditsEventOf<'CreditsAdjusted'>['data'];
type Counts = NonNullable<Adjusted['counts']>;
/** What a correction says of the value that it moves. */
export type MovedValue = Pick<Adjusted, 'restores' | 'counts'>;

/**
 * What an entry and its corrections did with value. A correction that takes credits and counts as the entry does shares
 * this value: what comes back by naming one of them does not come back by naming the other.
 */
export interface ReversedValue {
  /** Id of the entry. */
  readonly holder: string;
  /** What they took from grants. */
  readonly took: {
    readonly grantIds: readonly string[];
    readonly credits: number;
    readonly cents: number;
  };
  /** What was given back of that. */
  readonly gave: { readonly credits: number; readonly cents: number };
  /** Of the corrections; `null`: as corrections. */
  readonly counts: Counts | null;
  /** The grant that the entry made. Only what is taken from this one takes the entry back. */
  readonly grantId: string | null;
}

/** The value of an entry that no correction names yet. @param used what it took from grants */
export const valueHeld = (
  holder: string,
  counts: Counts | null,
  grantId: string | null,
  used: readonly UsedCredits[],
): ReversedValue => ({
  holder,
  took: plus({ grantIds: [], credits: 0, cents: 0 }, used),
  gave: { credits: 0, cents: 0 },
  counts,
  grantId,
});

/**
 * What a correction says of the value that it moves. Credits come back in order, so all parts together bring back what
 * was taken, to the cent, and no more.
 * @param of the entry that it reverses
 */
export const movedBy = (
  of: ReversedValue | undefined,
  { amount, allocations }: Pick<Adjusted, 'amount' | 'allocations'>,
): MovedValue => {
  if (!of) return {};
  const counts = of.counts && { counts: of.counts };
  if (amount < 0)
    return of.grantId === null || allocations.every(({ grantId }) => grantId === of.grantId)
      ? { ...counts }
      : {};
  const { took } = of;
  if (took.credits === 0) return {};
  const priceCents = givenWith(of, amount).cents - of.gave.cents;
  return { restores: { grantIds: [...took.grantIds], priceCents }, ...counts };
};

/** Whether the value of a correction that takes credits is that of the entry that it names. */
export const sharesValue = (
  of: ReversedValue | undefined,
  { amount, counts }: Pick<Adjusted, 'amount' | 'counts'>,
): boolean => of !== undefined && amount < 0 && counts?.as === of.counts?.as && counts?.of === of.counts?.of;

/**
 * The value of an entry after a correction that names it.
 * @param used what the correction took from grants
 */
export const corrected = (
  of: ReversedValue,
  data: Pick<Adjusted, 'amount' | 'counts'>,
  used: readonly UsedCredits[],
): ReversedValue => {
  if (data.amount > 0) return { ...of, gave: givenWith(of, data.amount) };
  return sharesValue(of, data) ? { ...of, took: plus(of.took, used) } : of;
};

const givenWith = ({ took, gave }: ReversedValue, amount: number): ReversedValue['gave'] => {
  const credits = Math.min(gave.credits + amount, took.credits);
  if (credits === 0) return { ...gave, credits };
  return { credits, cents: Math.max(gave.cents, worth(took.credits, took.cents, credits)) };
};

const plus = (took: ReversedValue['took'], used: readonly UsedCredits[]): ReversedValue['took'] => ({
  grantIds: [...new Set([...took.grantIds, ...used.map(({ grantId }) => grantId)])],
  credits: took.credits + used.reduce((sum, { credits }) => sum + credits, 0),
  cents: took.cents + used.reduce((sum, { cents }) => sum + cents, 0),
});
