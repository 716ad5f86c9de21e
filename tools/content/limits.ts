import { isLopsided } from './choices.js';
import type { Likeness } from './likeness.js';
import type { ReadingStats } from './reading-stats.js';
import { quantile } from './text.js';

/** No sentence is in more readings than this, outside opening, method and notice. */
const MOST_SHARED_SENTENCE = 0.25;
/** Fewer readings than this show chance too, so two standard errors are allowed. */
const ENOUGH_PEOPLE = 1_000;

const percent = (share: number): string => `${Math.round(share * 1_000) / 10} %`;

/** The share that a sentence may have among so many readings. */
export const sentenceLimit = (people: number): number =>
  people >= ENOUGH_PEOPLE
    ? MOST_SHARED_SENTENCE
    : MOST_SHARED_SENTENCE + 2 * Math.sqrt((MOST_SHARED_SENTENCE * (1 - MOST_SHARED_SENTENCE)) / people);

/** Words of prose that all but one reading in twenty has at least, and at most; and of the forecast of each. */
const LEAST_WORDS = 4_600;
const LEAST_USUAL_WORDS = 5_000;
const MOST_WORDS = 6_500;
const LEAST_FORECAST = 1_500;

/** Readings that are too short or too long. */
export const lengthLimitFaults = ({
  words,
  forecast,
}: Pick<ReadingStats, 'words' | 'forecast'>): string[] => {
  const [least, median, most] = [0.05, 0.5, 0.95].map((share) => quantile(words, share));
  const shortest = Math.min(...forecast);
  return [
    ...((least ?? 0) < LEAST_WORDS ? [`${least} words of prose at 5 %, at least ${LEAST_WORDS}`] : []),
    ...((median ?? 0) < LEAST_USUAL_WORDS
      ? [`${median} words of prose in the median, at least ${LEAST_USUAL_WORDS}`]
      : []),
    ...((most ?? 0) > MOST_WORDS ? [`${most} words of prose at 95 %, at most ${MOST_WORDS}`] : []),
    ...(shortest < LEAST_FORECAST ? [`a forecast of ${shortest} words, at least ${LEAST_FORECAST}`] : []),
  ];
};

/** Readings for parents that are too short, every one of them, or too long. */
export const childLengthFaults = ({ childWords }: Pick<ReadingStats, 'childWords'>): string[] => {
  const least = Math.min(...childWords);
  const most = quantile(childWords, 0.95);
  return [
    ...(least < LEAST_WORDS ? [`a reading for parents of ${least} words, at least ${LEAST_WORDS}`] : []),
    ...(most > MOST_WORDS ? [`${most} words of prose for parents at 95 %, at most ${MOST_WORDS}`] : []),
  ];
};

const likenessFaults = (who: string, likeness: readonly Likeness[]): string[] =>
  likeness
    .filter(({ median, p95, most }) => most !== undefined && (median >= most.median || p95 >= most.p95))
    .map(
      ({ stratum, median, p95 }) =>
        `readings of ${who}, ${stratum}: ${percent(median)} alike in the median, ${percent(p95)} at 95 %`,
    );

/** What the readings of one language have too much in common. */
export const limitFaults = ({
  people,
  sentences,
  choices,
  likeness,
  childLikeness,
}: ReadingStats): string[] => [
  ...sentences
    .filter(({ share }) => share > sentenceLimit(people))
    .map(({ sentence, share }) => `in ${percent(share)} of the readings: ${sentence}`),
  ...choices
    .filter(isLopsided)
    .map(
      ({ key, favorite, forms, share }) =>
        `${key}: form ${favorite} of ${forms} goes to ${percent(share)} of its readers`,
    ),
  ...likenessFaults('adults', likeness),
  ...likenessFaults('children', childLikeness),
];
