import type { DocumentV1, Locale } from '../document/document.js';
import { proseOf } from '../document/prose.js';
import { commonPerson } from './random-people.js';
import { quantile } from './quantile.js';
import { type Trial, trialDocument, trialResult } from './trial.js';

const SEQUENCE_WORDS = 8;

/** How much the readings of two people share, by what the two have in common. */
export interface Likeness {
  readonly stratum: string;
  readonly pairs: number;
  readonly median: number;
  readonly p95: number;
  /** What both must stay below. */
  readonly most?: { readonly median: number; readonly p95: number };
}

/** Every sequence of eight words of the prose. */
const sequencesOf = (document: DocumentV1): ReadonlySet<string> => {
  const sequences = new Set<string>();
  for (const paragraph of proseOf(document)) {
    const words = paragraph.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [];
    for (let start = 0; start + SEQUENCE_WORDS <= words.length; start += 1) {
      sequences.add(words.slice(start, start + SEQUENCE_WORDS).join(' '));
    }
  }
  return sequences;
};

/** The share of the shorter reading's sequences that the other has too. */
const shareOf = (one: ReadonlySet<string>, other: ReadonlySet<string>): number => {
  const [small, large] = one.size < other.size ? [one, other] : [other, one];
  let common = 0;
  for (const sequence of small) if (large.has(sequence)) common += 1;
  return small.size === 0 ? 0 : common / small.size;
};

const summed = (stratum: string, shares: readonly number[], most?: Likeness['most']): Likeness => ({
  stratum,
  pairs: shares.length,
  median: quantile(shares, 0.5),
  p95: quantile(shares, 0.95),
  ...(most && { most }),
});

const MOST_PAIRS = 3_000;

/** Pairs of different indexes for which `holds`, at most `MOST_PAIRS`. */
const pairsWhere = (count: number, holds: (one: number, other: number) => boolean): [number, number][] => {
  const pairs: [number, number][] = [];
  for (let apart = 1; apart < count && pairs.length < MOST_PAIRS; apart += 1) {
    for (let one = 0; one + apart < count && pairs.length < MOST_PAIRS; one += 1) {
      if (holds(one, one + apart)) pairs.push([one, one + apart]);
    }
  }
  return pairs;
};

const RELATIVES = 150;

/** Two people with one family name: spouses, siblings. */
const relatives = (locale: Locale): Likeness => {
  const shares = Array.from({ length: RELATIVES }, (_, seed) => {
    const first = commonPerson(locale, 10_000 + seed);
    const second = commonPerson(locale, 20_000 + seed, first.name.lastNames[0]);
    const [one, other] = [first, second].map((person) =>
      sequencesOf(trialDocument({ person, locale, gender: 'neutral' })),
    );
    return one && other ? shareOf(one, other) : 0;
  });
  return summed('one family name', shares);
};

/** The likeness of readings by stratum. */
export const likenessOf = (
  locale: Locale,
  trials: readonly Trial[],
  documents: readonly DocumentV1[],
): Likeness[] => {
  const sequences = documents.map(sequencesOf);
  const numbers = trials.map((trial) => trialResult(trial).numbers);
  const path = (at: number) => numbers[at]?.lifePath.value;
  const name = (at: number) => numbers[at]?.expression.value;
  const measure = (
    stratum: string,
    holds: (one: number, other: number) => boolean,
    most?: Likeness['most'],
  ) =>
    summed(
      stratum,
      pairsWhere(documents.length, holds).map(([one, other]) =>
        shareOf(sequences[one] ?? new Set(), sequences[other] ?? new Set()),
      ),
      most,
    );
  const samePath = (one: number, other: number) => path(one) === path(other);
  const sameName = (one: number, other: number) => name(one) === name(other);
  return [
    measure('any two', () => true, { median: 0.2, p95: 0.35 }),
    measure('one Life Path', samePath, { median: 0.25, p95: 0.4 }),
    measure('one Life Path and Expression', (one, other) => samePath(one, other) && sameName(one, other), {
      median: 0.5,
      p95: 0.5,
    }),
    relatives(locale),
  ];
};
