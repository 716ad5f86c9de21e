import type { DocumentV1, Locale } from '#publishing/document/document.js';
import { commonChild, commonPerson, type Person } from '#publishing/document/testing/random-people.js';
import { type Trial, trialDocument, trialResult } from '#publishing/document/testing/trial.js';
import { foldedWords, proseOf, quantile, sequencesOf } from './text.js';

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
const sharedWords = (document: DocumentV1): ReadonlySet<string> =>
  new Set(proseOf(document).flatMap((paragraph) => sequencesOf(foldedWords(paragraph), SEQUENCE_WORDS)));

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

/** Somebody with common names by a number, perhaps with a given family name. */
type PersonOf = (seed: number, lastName?: string) => Person;

const RELATIVES = 150;

const sequencesFor = (locale: Locale, person: Person): ReadonlySet<string> =>
  sharedWords(trialDocument({ person, locale, gender: 'neutral' }));

/** Two people with one family name: spouses, siblings; `born` gives the second the date of birth of the first. */
const relatives = (
  locale: Locale,
  personOf: PersonOf,
  stratum: string,
  born: 'apart' | 'together' = 'apart',
): Likeness => {
  const shares = Array.from({ length: RELATIVES }, (_, seed) => {
    const first = personOf(10_000 + seed);
    const other = personOf(20_000 + seed, first.name.lastNames[0]);
    const second = born === 'together' ? { ...other, dateOfBirth: first.dateOfBirth } : other;
    return shareOf(sequencesFor(locale, first), sequencesFor(locale, second));
  });
  return summed(stratum, shares);
};

type Most = NonNullable<Likeness['most']>;
/** What the readings of any two people, with one Life Path, and with one Expression too, must stay below. */
type Limits = readonly [any: Most, samePath: Most, sameName: Most];

/** For adults and for children under seven alike. */
const LIMITS: Limits = [
  { median: 0.2, p95: 0.35 },
  { median: 0.25, p95: 0.4 },
  { median: 0.5, p95: 0.5 },
];

/** The likeness of readings by what their people have in common. */
const strataOf = (trials: readonly Trial[], documents: readonly DocumentV1[]): Likeness[] => {
  const [any, onePath, oneName] = LIMITS;
  const sequences = documents.map(sharedWords);
  const numbers = trials.map((trial) => trialResult(trial).numbers);
  const path = (at: number) => numbers[at]?.lifePath.value;
  const name = (at: number) => numbers[at]?.expression.value;
  const measure = (stratum: string, holds: (one: number, other: number) => boolean, most: Most) =>
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
    measure('any two', () => true, any),
    measure('one Life Path', samePath, onePath),
    measure(
      'one Life Path and Expression',
      (one, other) => samePath(one, other) && sameName(one, other),
      oneName,
    ),
  ];
};

/** The likeness of the readings of adults, by stratum. */
export const likenessOf = (
  locale: Locale,
  trials: readonly Trial[],
  documents: readonly DocumentV1[],
): Likeness[] => [
  ...strataOf(trials, documents),
  relatives(locale, (seed, lastName) => commonPerson(locale, seed, lastName), 'one family name'),
];

/** The same of readings for parents; of siblings, and of twins, who share a date as well. */
export const childLikenessOf = (
  locale: Locale,
  trials: readonly Trial[],
  documents: readonly DocumentV1[],
): Likeness[] => {
  const childOf: PersonOf = (seed, lastName) => commonChild(locale, seed, lastName);
  return [
    ...strataOf(trials, documents),
    relatives(locale, childOf, 'one family name'),
    relatives(locale, childOf, 'one family name and date', 'together'),
  ];
};
