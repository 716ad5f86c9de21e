import type { Recorded } from '#event-sourcing/core/event.js';
import type { CreditsEventOf } from './contracts/events.js';

/** What works on files alone, without a connection: for programs that must not need one. */
export { handoverOf, readSealKey } from './signatures.js';
export { parseOperators } from './settings.js';
export { textsToSign } from './domain/correction.js';
export { publicKeyOf, signText } from './signatures.js';

type Correction = Recorded<CreditsEventOf<'CreditsAdjusted'>>;

/** What corrections say of a captured reading. Amounts are credits. */
export interface Refunds {
  /** Event ids, in the order of the book: corrections of the capture, and corrections of these. */
  readonly corrections: readonly string[];
  /** Sum of these corrections. */
  readonly givenBack: number;
  /** Entries whose reversal gives back the rest; empty: the capture is refunded. */
  readonly toRefund: readonly { readonly reversesEventId: string; readonly amount: number }[];
}

/**
 * Works out what is left to refund of a capture. The rest reverses the capture as far as its book allows it, then the
 * corrections that took a refund back.
 * @param byReversed corrections of the log by the entry that they reverse, each list in the order of its book
 */
export const refundsOf = (
  capture: { readonly eventId: string; readonly amount: number },
  byReversed: ReadonlyMap<string, readonly Correction[]>,
): Refunds => {
  const corrections = following(capture.eventId, byReversed).sort((a, b) =>
    a.revision < b.revision ? -1 : 1,
  );
  const sumOf = (some: readonly Correction[]): number => some.reduce((sum, { data }) => sum + data.amount, 0);
  const givenBack = sumOf(corrections);
  let left = capture.amount - givenBack;
  const entries = [capture, ...corrections.map(({ id, data }) => ({ eventId: id, amount: -data.amount }))];
  const toRefund = entries.flatMap(({ eventId: reversesEventId, amount: reversible }) => {
    const unreversed = reversible - sumOf(byReversed.get(reversesEventId) ?? []);
    const amount = reversible > 0 ? Math.min(left, unreversed) : 0;
    if (amount <= 0) return [];
    left -= amount;
    return [{ reversesEventId, amount }];
  });
  return { corrections: corrections.map(({ id }) => id), givenBack, toRefund };
};

/** Corrections of an entry, and corrections of these. */
const following = (eventId: string, byReversed: ReadonlyMap<string, readonly Correction[]>): Correction[] =>
  (byReversed.get(eventId) ?? []).flatMap((one) => [one, ...following(one.id, byReversed)]);
