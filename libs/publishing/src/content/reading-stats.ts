import type { DocumentV1, Locale } from '../document/document.js';
import { proseOf } from '../document/prose.js';
import { wordsIn } from './book/texts.js';
import { sentencesOf } from './clashes.js';
import { likenessOf, type Likeness } from './likeness.js';
import { quantile } from './quantile.js';
import { commonPerson } from './random-people.js';
import { LOCALES, trialDocument } from './trial.js';

/** Sections that tell a time. */
const FORECAST = ['cycles', 'year'];
/** What a reader meets in every reading anyway. */
const EXPECTED = ['opening', 'method', 'notice'];
const MOST_SHARED_SENTENCE = 0.25;

const wordsOf = (document: DocumentV1, roles?: readonly string[]): number => {
  const children = document.children.filter(({ role }) => !roles || roles.includes(role));
  return proseOf({ ...document, children }).reduce((sum, text) => sum + wordsIn(text), 0);
};

const spread = (numbers: readonly number[]): string =>
  [0.05, 0.5, 0.95].map((share) => String(quantile(numbers, share))).join(' / ');

/** The sentences that too many readings hold, most frequent first. */
export const sharedSentences = (documents: readonly DocumentV1[]): [sentence: string, share: number][] => {
  const counts = new Map<string, number>();
  for (const document of documents) {
    const children = document.children.filter(({ role }) => !EXPECTED.includes(role));
    const own = new Set(proseOf({ ...document, children }).flatMap(sentencesOf));
    own.forEach((sentence) => counts.set(sentence, (counts.get(sentence) ?? 0) + 1));
  }
  return [...counts]
    .map(([sentence, count]): [string, number] => [sentence, count / documents.length])
    .filter(([sentence, share]) => share > MOST_SHARED_SENTENCE && wordsIn(sentence) > 3)
    .toSorted((one, other) => other[1] - one[1]);
};

const percent = (share: number): string => `${Math.round(share * 100)} %`;

const printLikeness = (print: (line: string) => void, likeness: readonly Likeness[]): void => {
  for (const { stratum, pairs, median, p95, most } of likeness) {
    const limit = most ? ` (below ${percent(most.median)}, ${percent(most.p95)})` : '';
    print(
      `  ${stratum.padEnd(32)} ${String(pairs).padStart(7)} pairs  median ${percent(median)}  p95 ${percent(p95)}${limit}`,
    );
  }
};

const localeStats = (locale: Locale, people: number, seed: number, print: (line: string) => void): void => {
  const trials = Array.from({ length: people }, (_, index) => ({
    person: commonPerson(locale, seed + index),
    locale,
    gender: 'neutral' as const,
  }));
  const documents = trials.map(trialDocument);
  print(`${locale}: ${people} adults with common names; 5 % / median / 95 %`);
  print(`  words of prose        ${spread(documents.map((document) => wordsOf(document)))}`);
  print(`  words of the forecast ${spread(documents.map((document) => wordsOf(document, FORECAST)))}`);
  const shared = sharedSentences(documents);
  print(`  sentences in more than ${percent(MOST_SHARED_SENTENCE)} of the readings: ${shared.length}`);
  shared.slice(0, 60).forEach(([sentence, share]) => print(`    ${percent(share)}  ${sentence}`));
  print('  8-word sequences that two readings share');
  printLikeness(print, likenessOf(locale, trials, documents));
};

/** Prints words, shared sentences and likeness of the readings of adults with common names, in each language. */
export const readingStats = (people: number, seed: number, print: (line: string) => void): void =>
  LOCALES.forEach((locale) => localeStats(locale, people, seed, print));
