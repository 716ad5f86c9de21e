import type { ReadingResult } from '#numerology/index.js';
import { bookFor } from '#publishing/content/book/book.js';
import { personKey, pick, planTexts } from '#publishing/document/truth.js';
import type { DocumentV1, Locale } from '#publishing/document/document.js';
import { commonChild, commonPerson } from '#publishing/document/testing/random-people.js';
import { type Trial, trialDocument, trialResult } from '#publishing/document/testing/trial.js';
import { loadBook } from './book-texts.js';
import { foldedWords, proseOf, quantile, sentencesOf, sequencesOf, wordsIn } from './text.js';

/** What many readings of one language may have in common, and how long they may be. */

const percent = (share: number): string => `${Math.round(share * 1_000) / 10} %`;

/** No sentence is in more readings than this, outside opening, method and notice. */
const MOST_SHARED_SENTENCE = 0.25;
const EXPECTED = ['opening', 'method', 'notice'];
/** Fewer readings than this show chance too, so two standard errors are allowed. */
const ENOUGH_PEOPLE = 1_000;
/** A sentence of so few words is a formula. */
const FORMULA_WORDS = 3;

/** Sentences that too many of the readings hold. */
export const sentenceFaults = (documents: readonly DocumentV1[]): string[] => {
  const counts = new Map<string, number>();
  for (const document of documents) {
    const children = document.children.filter(({ role }) => !EXPECTED.includes(role));
    const own = new Set(proseOf({ ...document, children }).flatMap(sentencesOf));
    own.forEach((sentence) => counts.set(sentence, (counts.get(sentence) ?? 0) + 1));
  }
  const error = Math.sqrt((MOST_SHARED_SENTENCE * (1 - MOST_SHARED_SENTENCE)) / documents.length);
  const most = MOST_SHARED_SENTENCE + (documents.length < ENOUGH_PEOPLE ? 2 * error : 0);
  return [...counts]
    .map(([sentence, count]) => ({ sentence, share: count / documents.length }))
    .filter(({ sentence, share }) => share > most && wordsIn(sentence) > FORMULA_WORDS)
    .map(({ sentence, share }) => `in ${percent(share)} of the readings: ${sentence}`);
};

/** No form of an entry goes to more of its readers than this. */
const MOST_SHARE = 0.4;
/** An entry that few people read shows chance first, so a share counts once it lies so many standard errors above. */
const CERTAINTY = 3;
/** Forms that are printed together: a list, and no choice. */
const LISTS = ['frames/method conventions', 'frames/method uses'];

/**
 * Entries of which so many readers get one form that they offer less choice than it seems. An entry that the plan of a
 * reading does not choose goes by the hash, for whoever reads it.
 */
export const choiceFaults = (locale: Locale, results: readonly ReadingResult[]): string[] => {
  const book = bookFor(locale);
  const readers = results.map((result) => ({ person: personKey(result), plan: planTexts(book, result) }));
  const entries = loadBook(locale).flatMap(({ entries: placed }) => placed);
  return entries.flatMap(({ file, path, entry, shape }) => {
    const key = `${file} ${path}`;
    if (entry.length < 2 || LISTS.includes(key)) return [];
    const forms = book.entry(key);
    const chosen = readers.flatMap(({ person, plan }) => {
      const planned = plan.forms.get(key);
      if (planned) return [forms.indexOf(planned)];
      return shape.traits ? [] : [pick(person, key, forms.length)];
    });
    const counts = forms.map((_, at) => chosen.filter((each) => each === at).length);
    const share = Math.max(...counts) / chosen.length;
    const error = Math.sqrt((MOST_SHARE * (1 - MOST_SHARE)) / chosen.length);
    return share - CERTAINTY * error > MOST_SHARE
      ? [`${key}: form ${counts.indexOf(Math.max(...counts)) + 1} goes to ${percent(share)} of its readers`]
      : [];
  });
};

/** Words of prose that all but one reading in twenty has at least, and at most; of a child, every reading has the least. */
const LEAST_WORDS = 4_600;
const LEAST_USUAL_WORDS = 5_000;
const MOST_WORDS = 6_500;

/** Readings that are too short or too long. @param words of the prose of each */
export const lengthFaults = (who: 'adults' | 'children', words: readonly number[]): string[] => {
  const least = who === 'adults' ? quantile(words, 0.05) : Math.min(...words);
  const [median, most] = [quantile(words, 0.5), quantile(words, 0.95)];
  return [
    ...(least < LEAST_WORDS ? [`readings of ${who}: the short ones have ${least} words of prose`] : []),
    ...(who === 'adults' && median < LEAST_USUAL_WORDS
      ? [`readings of ${who}: ${median} words of prose in the median`]
      : []),
    ...(most > MOST_WORDS ? [`readings of ${who}: ${most} words of prose at 95 %`] : []),
  ];
};

export const wordsOf = (document: DocumentV1): number =>
  proseOf(document).reduce((sum, text) => sum + wordsIn(text), 0);

const SEQUENCE_WORDS = 8;
const MOST_PAIRS = 3_000;

/** The share of the shorter reading's sequences that the other has too. */
const shareOf = (one: ReadonlySet<string>, other: ReadonlySet<string>): number => {
  const [small, large] = one.size < other.size ? [one, other] : [other, one];
  return [...small].filter((sequence) => large.has(sequence)).length / Math.max(small.size, 1);
};

/** What the readings of any two people, with one Life Path, and with one Expression too, stay below. */
const LIKENESS = [
  { stratum: 'any two', median: 0.2, p95: 0.35 },
  { stratum: 'one Life Path', median: 0.25, p95: 0.4 },
  { stratum: 'one Life Path and Expression', median: 0.5, p95: 0.5 },
] as const;

/** Readings that are too much alike, by what their people have in common. */
export const likenessFaults = (who: string, trials: readonly Trial[], documents: readonly DocumentV1[]) => {
  const sequences = documents.map(
    (document) =>
      new Set(proseOf(document).flatMap((each) => sequencesOf(foldedWords(each), SEQUENCE_WORDS))),
  );
  const numbers = trials.map((trial) => trialResult(trial).numbers);
  const alike = (key: 'lifePath' | 'expression', one: number, other: number): boolean =>
    numbers[one]?.[key].value === numbers[other]?.[key].value;
  const inCommon = (one: number, other: number): number =>
    alike('lifePath', one, other) ? (alike('expression', one, other) ? 2 : 1) : 0;
  return LIKENESS.flatMap((most, stratum) => {
    const shares: number[] = [];
    for (let apart = 1; apart < documents.length; apart += 1)
      for (let one = 0; one + apart < documents.length && shares.length < MOST_PAIRS; one += 1)
        if (inCommon(one, one + apart) >= stratum)
          shares.push(shareOf(sequences[one]!, sequences[one + apart]!));
    const [median, p95] = [quantile(shares, 0.5), quantile(shares, 0.95)];
    return median >= most.median || p95 >= most.p95
      ? [`${who}, ${most.stratum}: ${percent(median)} alike in the median, ${percent(p95)} at 95 %`]
      : [];
  });
};

/** Adults for each child whose reading is measured. */
const ADULTS_PER_CHILD = 4;

/**
 * Composes the readings of `people` adults with common names of a country, and of a quarter as many children under seven,
 * and names what exceeds a limit.
 * @param seed of the first person; the others follow
 */
export const limitFaults = (locale: Locale, people: number, seed: number): string[] => {
  const trialsOf = (count: number, personOf: typeof commonPerson): Trial[] =>
    Array.from({ length: count }, (_, at) => ({
      person: personOf(locale, seed + at),
      locale,
      gender: 'neutral',
    }));
  const adults = trialsOf(people, commonPerson);
  const children = trialsOf(Math.ceil(people / ADULTS_PER_CHILD), commonChild);
  const [documents, childDocuments] = [adults.map(trialDocument), children.map(trialDocument)];
  return [
    ...sentenceFaults(documents),
    ...choiceFaults(locale, adults.map(trialResult)),
    ...lengthFaults('adults', documents.map(wordsOf)),
    ...lengthFaults('children', childDocuments.map(wordsOf)),
    ...likenessFaults('adults', adults, documents),
    ...likenessFaults('children', children, childDocuments),
  ].map((fault) => `${locale} ${fault}`);
};
