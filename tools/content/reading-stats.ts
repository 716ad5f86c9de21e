import type { DocumentV1, Locale } from '#publishing/document/document.js';
import { commonChild, commonPerson, type Person } from '#publishing/document/testing/random-people.js';
import { type Trial, trialDocument, trialResult } from '#publishing/document/testing/trial.js';
import { type Choice, choicesOf, sureShare } from './choices.js';
import { childLikenessOf, likenessOf, type Likeness } from './likeness.js';
import { proseOf, wordsIn, sentencesOf, quantile } from './text.js';

/** Sections that tell a time. */
const FORECAST = ['cycles', 'year'];
/** What a reader meets in every reading anyway. */
const EXPECTED = ['opening', 'method', 'notice'];
/** A sentence of so few words is a formula. */
const FORMULA_WORDS = 3;
/** Adults for each child whose reading is measured. */
const ADULTS_PER_CHILD = 4;

/** A sentence, and in what share of the readings it is. */
export interface SharedSentence {
  readonly sentence: string;
  readonly share: number;
}

/** What the readings of people with common names of a country measure, of adults but for what is named after children. */
export interface ReadingStats {
  readonly locale: Locale;
  readonly people: number;
  /** Words of prose of each reading, and of the two sections that tell a time. */
  readonly words: readonly number[];
  readonly forecast: readonly number[];
  /** Words of prose of each reading for the parents of a child under seven. */
  readonly childWords: readonly number[];
  /** The most frequent first. */
  readonly sentences: readonly SharedSentence[];
  /** The most lopsided first. */
  readonly choices: readonly Choice[];
  readonly likeness: readonly Likeness[];
  readonly childLikeness: readonly Likeness[];
}

const wordsOf = (document: DocumentV1, roles?: readonly string[]): number => {
  const children = document.children.filter(({ role }) => !roles || roles.includes(role));
  return proseOf({ ...document, children }).reduce((sum, text) => sum + wordsIn(text), 0);
};

/** The sentences outside opening, method and notice that more than one reading in ten holds. */
const sharedSentences = (documents: readonly DocumentV1[]): SharedSentence[] => {
  const counts = new Map<string, number>();
  for (const document of documents) {
    const children = document.children.filter(({ role }) => !EXPECTED.includes(role));
    const own = new Set(proseOf({ ...document, children }).flatMap(sentencesOf));
    own.forEach((sentence) => counts.set(sentence, (counts.get(sentence) ?? 0) + 1));
  }
  return [...counts]
    .map(([sentence, count]) => ({ sentence, share: count / documents.length }))
    .filter(({ sentence, share }) => share > 0.1 && wordsIn(sentence) > FORMULA_WORDS)
    .toSorted((one, other) => other.share - one.share);
};

const trialsOf = (locale: Locale, people: number, personAt: (index: number) => Person): Trial[] =>
  Array.from({ length: people }, (_, index) => ({ person: personAt(index), locale, gender: 'neutral' }));

/**
 * Composes the readings of `people` adults with common names, and measures them; and the length and likeness of those of a
 * quarter as many children under seven.
 * @param seed of the first person; the others follow
 * @param likeness whether to compare readings in pairs, which takes as long as all the rest
 */
export const measureReadings = (
  locale: Locale,
  people: number,
  seed: number,
  { likeness = true }: { readonly likeness?: boolean } = {},
): ReadingStats => {
  const trials = trialsOf(locale, people, (index) => commonPerson(locale, seed + index));
  const documents = trials.map(trialDocument);
  const children = Math.ceil(people / ADULTS_PER_CHILD);
  const childTrials = trialsOf(locale, children, (index) => commonChild(locale, seed + index));
  const childDocuments = childTrials.map(trialDocument);
  return {
    locale,
    people,
    words: documents.map((document) => wordsOf(document)),
    forecast: documents.map((document) => wordsOf(document, FORECAST)),
    childWords: childDocuments.map((document) => wordsOf(document)),
    sentences: sharedSentences(documents),
    choices: choicesOf(locale, trials.map(trialResult)).toSorted(
      (one, other) => sureShare(other) - sureShare(one),
    ),
    likeness: likeness ? likenessOf(locale, trials, documents) : [],
    childLikeness: likeness ? childLikenessOf(locale, childTrials, childDocuments) : [],
  };
};

const spread = (numbers: readonly number[]): string =>
  [0.05, 0.5, 0.95].map((share) => String(quantile(numbers, share))).join(' / ');

const percent = (share: number): string => `${Math.round(share * 100)} %`.padStart(6);

const ROWS = 15;

const printLikeness = (of: string, likeness: readonly Likeness[], print: (line: string) => void): void => {
  print(`  8-word sequences that ${of} share`);
  for (const { stratum, pairs, median, p95, most } of likeness) {
    const limit = most ? ` (below ${percent(most.median).trim()}, ${percent(most.p95).trim()})` : '';
    print(
      `  ${stratum.padEnd(32)} ${String(pairs).padStart(7)} pairs  median${percent(median)}  p95${percent(p95)}${limit}`,
    );
  }
};

/** Prints what was measured as tables. */
export const printStats = (stats: ReadingStats, print: (line: string) => void): void => {
  const { locale, people, words, forecast, childWords, sentences, choices, likeness, childLikeness } = stats;
  print(`${locale}: ${people} adults with common names; 5 % / median / 95 %`);
  print(`  words of prose        ${spread(words)}`);
  print(`  words of the forecast ${spread(forecast)}`);
  print(`  words for parents     ${spread(childWords)}`);
  print('  most frequent sentences (at most 25 %)');
  sentences.slice(0, ROWS).forEach(({ sentence, share }) => print(`  ${percent(share)}  ${sentence}`));
  print('  most frequent form of an entry with several (at most 40 %)');
  choices
    .slice(0, ROWS)
    .forEach(({ key, favorite, forms, share, readers }) =>
      print(`  ${percent(share)}  ${key}, form ${favorite} of ${forms}; ${readers} readers`),
    );
  printLikeness('two readings', likeness, print);
  printLikeness('two readings for parents', childLikeness, print);
};
