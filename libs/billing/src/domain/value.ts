import { canonicalJson } from '#event-sourcing/core/canonical-json.js';
import { assertNever, reject } from '#event-sourcing/core/decider.js';
import type { EntryValue } from '../contracts/corrections.js';
import type { CreditsEvent, CreditsEventOf, Grant } from '../contracts/events.js';
import { grantedBy, holdOf, type Credits } from './credits.state.js';

/** What the value of credits counts as that leave a grant for good: by a reading, by expiry, or by a correction. */
export type Use = EntryValue['as'];

/** Credits of one grant that left it for good, and their value. */
export interface UsedCredits {
  readonly use: Use;
  readonly grantId: string;
  readonly credits: number;
  readonly cents: number;
}

/**
 * Value of the first `count` credits of a grant, in cents: price × count / credits, rounded down.
 *
 * Largest remainder: each credit is worth ⌊price / credits⌋ cents, and the cents left over fall evenly on the credits,
 * one each. So a part is never off by a whole cent, and all parts of a grant sum to its price.
 */
export const worth = (credits: number, priceCents: number, count: number): number => {
  const product = priceCents * count;
  return Number.isSafeInteger(product)
    ? Math.floor(product / credits)
    : Number((BigInt(priceCents) * BigInt(count)) / BigInt(credits));
};

const used = ({ credits, remaining, held }: Grant): number => credits - remaining - held;

/** What an event takes out of the grants for good, in the order of its allocations. */
export const usedBy = (event: CreditsEvent, before: Credits): UsedCredits[] => {
  const started = new Map<string, number>();
  return leaving(event, before).flatMap(({ use, grantId, amount }) => {
    const grant = before.grants.find((one) => one.grantId === grantId);
    if (!grant) return [];
    const from = started.get(grantId) ?? used(grant);
    started.set(grantId, from + amount);
    const { credits, priceCents } = grant;
    const cents = worth(credits, priceCents, from + amount) - worth(credits, priceCents, from);
    return [{ use, grantId, credits: amount, cents }];
  });
};

/** Value of the credits that grants still have, available or held. */
export const deferredIn = (grants: readonly Grant[]): number =>
  grants.reduce(
    (sum, grant) => sum + grant.priceCents - worth(grant.credits, grant.priceCents, used(grant)),
    0,
  );

export const usedAs = ({ counts }: Pick<CreditsEventOf<'CreditsAdjusted'>['data'], 'counts'>): Use =>
  counts?.as ?? 'corrections';

/** The value that a correction moves. @param used what it took from grants */
export const entryValue = (
  { restores, counts }: Pick<CreditsEventOf<'CreditsAdjusted'>['data'], 'restores' | 'counts'>,
  used: readonly UsedCredits[],
): EntryValue => ({
  as: usedAs({ counts }),
  of: counts?.of ?? null,
  cents: used.reduce((sum, { cents }) => sum + cents, -(restores?.priceCents ?? 0)),
});

interface Leaving {
  readonly use: Use;
  readonly grantId: string;
  readonly amount: number;
}

const leaving = ({ type, data }: CreditsEvent, before: Credits): Leaving[] => {
  switch (type) {
    case 'CreditsCaptured':
      return (holdOf(before, data.reservationId)?.allocations ?? []).map((one) => ({
        ...one,
        use: 'earned',
      }));
    case 'CreditsReleased':
      return data.allocations
        .filter(({ to }) => to === 'expired')
        .map(({ grantId, amount }) => ({ use: 'breakage', grantId, amount }));
    case 'GrantExpired':
      return [{ use: 'breakage', grantId: data.grantId, amount: data.amount }];
    case 'CreditsAdjusted':
      return data.allocations
        .filter(({ amount }) => amount < 0)
        .map(({ grantId, amount }) => ({ use: usedAs(data), grantId, amount: -amount }));
    case 'BookOpened':
    case 'SubscriptionStarted':
    case 'SubscriptionChanged':
    case 'SubscriptionCancelled':
    case 'PlanGranted':
    case 'PackPurchased':
    case 'CreditsReserved':
    case 'PeriodCarried':
    case 'PeriodClosed':
      return [];
    default:
      return assertNever(type);
  }
};

type Adjusted = CreditsEventOf<'CreditsAdjusted'>['data'];
type Counts = NonNullable<Adjusted['counts']>;
/**
 * What an entry and its corrections did with value. A correction that takes credits and counts as the entry does shares
 * this value: what comes back by naming one of them does not come back by naming the other.
 */
export interface ReversedValue {
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
const valueHeld = (
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
): Pick<Adjusted, 'restores' | 'counts'> => {
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
const sharesValue = (
  of: ReversedValue | undefined,
  { amount, counts }: Pick<Adjusted, 'amount' | 'counts'>,
): boolean => of !== undefined && amount < 0 && counts?.as === of.counts?.as && counts?.of === of.counts?.of;

/**
 * The value of an entry after a correction that names it.
 * @param used what the correction took from grants
 */
const corrected = (
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

type Known = CreditsEvent & { readonly id: string };

/**
 * Follows what the entries of a whole book allow corrections to reverse, and the value that they move. It checks what
 * reversals say of that value.
 */
export class Reversals {
  /** Corrections so far. */
  corrections: number;
  private readonly values: Map<string, ReversedValue>;
  /** Of corrections that share the value of another entry. */
  private readonly holders: Map<string, string>;
  /** They are many. One that a correction names is kept among the others. */
  private readonly captures: Map<string, readonly UsedCredits[]>;
  /** Credits by entry: what it allows to reverse, and what corrections have reversed. */
  private readonly allowed: Map<string, number>;
  private readonly reversed: Map<string, number>;

  /** @param from goes on from there, which stays as it is */
  constructor(from?: Reversals) {
    this.corrections = from?.corrections ?? 0;
    this.values = new Map(from?.values);
    this.holders = new Map(from?.holders);
    this.captures = new Map(from?.captures);
    this.allowed = new Map(from?.allowed);
    this.reversed = new Map(from?.reversed);
  }

  /** @param used what the event took from grants @returns whether what it says of value follows from the book */
  see(event: Known, used: readonly UsedCredits[]): boolean {
    const { id, type, data } = event;
    // A store takes an id twice: the first entry with it counts.
    const isCopy = this.allowed.has(id) || this.captures.has(id);
    if (type === 'CreditsCaptured') {
      if (!isCopy) this.captures.set(id, used);
      return true;
    }
    const { reversible, counts } = originalOf(event);
    if (reversible !== 0 && !isCopy) this.allowed.set(id, reversible);
    const own = valueHeld(id, counts, grantedBy(event), used);
    if (type === 'CreditsAdjusted') {
      const { reversesEventId, restores, counts: said } = data;
      const of = this.valueOf(reversesEventId);
      const { reversed } = this.of(reversesEventId ?? '');
      this.corrections += 1;
      if (reversesEventId !== null) this.reversed.set(reversesEventId, reversed + data.amount);
      if (of) this.values.set(of.holder, corrected(of, data, used));
      if (!isCopy && sharesValue(of, data)) this.holders.set(id, of!.holder);
      else if (!isCopy) this.values.set(id, own);
      return canonicalJson({ restores, counts: said }) === canonicalJson(movedBy(of, data));
    }
    if (reversible !== 0 && !isCopy) this.values.set(id, own);
    return true;
  }

  /**
   * Signed credits of an entry: what corrections may give back (negative: take back) in all, 0 when there is nothing; and
   * what they did.
   */
  of(eventId: string): { readonly reversible: number; readonly reversed: number } {
    const captured = this.captures.get(eventId)?.reduce((sum, { credits }) => sum + credits, 0);
    return {
      reversible: captured ?? this.allowed.get(eventId) ?? 0,
      reversed: this.reversed.get(eventId) ?? 0,
    };
  }

  /**
   * Why a correction cannot reverse an entry by this amount; `null` when it can. All corrections of an entry together
   * give or take at most what the entry moved, so a full reversal happens once.
   */
  refuse(eventId: string, amount: number) {
    const { reversible, reversed } = this.of(eventId);
    if (reversible === 0) return reject('NothingToReverse', { eventId });
    const after = reversed + amount;
    const isWithin = reversible > 0 ? after >= 0 && after <= reversible : after <= 0 && after >= reversible;
    return isWithin ? null : reject('ReversalExceeded', { eventId, original: reversible, reversed });
  }

  /** The value of an entry as of the last event. */
  valueOf(eventId: string | null): ReversedValue | undefined {
    if (eventId === null) return undefined;
    const used = this.captures.get(eventId);
    return (
      this.values.get(this.holders.get(eventId) ?? eventId) ??
      (used && valueHeld(eventId, { as: 'earned', of: eventId }, null, used))
    );
  }
}

interface Original {
  /** Credits that corrections may give back in all; negative: that they may take back. 0: nothing to reverse. */
  readonly reversible: number;
  readonly counts: Counts | null;
}

/** What corrections of an entry may do, and what their value counts as. */
const originalOf = ({ id, type, data }: Known): Original => {
  switch (type) {
    case 'PlanGranted':
    case 'PackPurchased':
      return { reversible: -data.credits, counts: { as: 'refunds', of: data.grantId } };
    case 'CreditsCaptured':
      return { reversible: data.amount, counts: { as: 'earned', of: id } };
    case 'GrantExpired':
      return { reversible: data.amount, counts: { as: 'breakage', of: id } };
    case 'CreditsReleased': {
      // Released credits are back already, except those that expired.
      const expired = data.allocations.filter(({ to }) => to === 'expired');
      const reversible = expired.reduce((sum, { amount }) => sum + amount, 0);
      return { reversible, counts: { as: 'breakage', of: id } };
    }
    case 'CreditsAdjusted':
      return { reversible: -data.amount, counts: data.counts ?? null };
    case 'BookOpened':
    case 'SubscriptionStarted':
    case 'SubscriptionChanged':
    case 'SubscriptionCancelled':
    case 'CreditsReserved':
    case 'PeriodCarried':
    case 'PeriodClosed':
      return { reversible: 0, counts: null };
    default:
      return assertNever(type);
  }
};
