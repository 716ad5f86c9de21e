import { familyOf } from '#publishing/content/book/families.js';
import type { DocumentV1, Locale } from '#publishing/document/document.js';
import { headingsOf } from '#publishing/document/walk.js';
import { SIMILES } from './book-rules.js';
import { loadBook, textsOf as textsOfBook } from './book-texts.js';
import { nodesOf, paragraphsWithin, proseOf, sentencesOf, wordsIn } from './text.js';

/** A master number is printed with its root, 11/2, wherever composition prints it. */
const BARE_MASTER = /^(?:11|22|33)$/;

const bareMasters = (document: DocumentV1): string[] => {
  const told = document.children
    .flatMap(nodesOf)
    .flatMap((node) => (node.type === 'numberRef' || node.type === 'numberCard' ? [node.value] : []));
  const titles = headingsOf(document).flatMap(
    ({ title }) => title.match(/(?<![\d/])\d+(?:\/\d)?(?!\d)/g) ?? [],
  );
  return [...told, ...titles]
    .filter((number) => BARE_MASTER.test(number))
    .map((number) => `the master number ${number} without its root`);
};

/** "A 8", "a 11/2", "an 7": an article that its number, as it is spoken, does not take. */
const WRONG_ARTICLE = /\b(?:a\s(?=(?:8\d*|11|18)(?!\d))|an\s(?!(?:8\d*|11|18)(?!\d))(?=\d))\S*/giu;

const articleFaults = (document: DocumentV1): string[] => {
  if (document.locale !== 'en-US') return [];
  const printed = [
    ...headingsOf(document).map(({ title }) => title),
    ...document.children.flatMap(paragraphsWithin),
  ];
  return printed
    .flatMap((text) => text.match(WRONG_ARTICLE) ?? [])
    .map((found) => `a wrong article: ${found}`);
};

/** A list of numbers in a sentence: « 3, 5 et 8 », "3 and 5". */
const NUMBER_LIST = /\d(?:\/\d)?(?:, \d(?:\/\d)?)*,? (?:et|and) \d(?:\/\d)?/gu;
const FEW: Readonly<Record<Locale, RegExp>> = {
  'fr-FR': /(?<!\p{L})(?:quelques|peu de|une poignée)(?!\p{L})[^.?]* : /iu,
  'en-US': /\b(?:a few|a couple|a handful)\b[^.?]*: /iu,
};
const SEVERAL: Readonly<Record<Locale, RegExp>> = {
  'fr-FR': /(?<!\p{L})plusieurs(?!\p{L})/iu,
  'en-US': /\b(?:several|many)\b/iu,
};
const PAIR: Readonly<Record<Locale, RegExp>> = {
  'fr-FR': /(?<!\p{L})(?:les deux|l’une? que l’autre|l’une? et l’autre)(?!\p{L})/iu,
  'en-US': /\b(?:both|the two|either)\b/iu,
};
const MOST_FEW = 4;

/** Words for how many that the numbers beside them belie: few for five, several for two, both for three. */
const countFaults = (locale: Locale, prose: readonly string[]): string[] =>
  prose.flatMap(sentencesOf).flatMap((sentence) =>
    [...sentence.replaceAll('\u00A0', ' ').matchAll(NUMBER_LIST)].flatMap(([list]) => {
      const count = list.split(/, (?:and )?| (?:et|and) /).length;
      const told = sentence.replaceAll('\u00A0', ' ');
      const isFalse =
        (count > MOST_FEW && FEW[locale].test(told)) ||
        (count === 2 && SEVERAL[locale].test(told)) ||
        (count > 2 && PAIR[locale].test(told));
      return isFalse ? [`says wrongly how many: ${sentence}`] : [];
    }),
  );

/** What stands after "like a" and is no image. */
const NO_IMAGES: Readonly<Record<Locale, string>> = {
  'fr-FR': 'autres autre',
  'en-US': 'person thing long start one others same rest last next first whole',
};

/** An image whose noun another paragraph has used. */
const imagesTwice = (locale: Locale, prose: readonly string[]): string[] => {
  const seen = new Set<string>();
  return prose.flatMap((paragraph) => {
    const nouns = new Set(
      [...paragraph.matchAll(SIMILES[locale])].map(([, noun = '']) => noun.toLowerCase()),
    );
    const again = [...nouns].filter((noun) => seen.has(noun) && !NO_IMAGES[locale].split(' ').includes(noun));
    nouns.forEach((noun) => seen.add(noun));
    return again.map((noun) => `the image of "${noun}" twice: ${paragraph.slice(0, 60)}…`);
  });
};

/** Completed years below which a reading speaks to the parents; past the other it tells of no year. */
const READER_AGE = 7;
const OLDEST = 110;
const LEAST_FORECAST_WORDS = 1_500;
const MONTHS_AHEAD = 12;

/** Nothing is dated before birth, the twelve months are ahead, and the forecast is long enough to be one. */
const forecastFaults = (document: DocumentV1): string[] => {
  const { asOf, subject } = document.meta;
  const year = Number(subject.dateOfBirth.slice(0, 4));
  const children = document.children.filter(({ role }) => role === 'cycles' || role === 'year');
  const told = proseOf({ ...document, children });
  const early = told
    .flatMap((text) => text.match(/(?<!\d)(?:1[5-9]|2\d)\d\d(?!\d)/g) ?? [])
    .filter((each) => Number(each) < year);
  const ids = children.flatMap(nodesOf).flatMap((node) => ('id' in node ? [node.id] : []));
  const months = ids.flatMap((id) => /^year\.months\.(\d{4}-\d\d)$/.exec(id)?.[1] ?? []);
  const words = told.reduce((sum, text) => sum + wordsIn(text), 0);
  const hasForecast = Number(asOf.slice(0, 4)) - year <= OLDEST;
  return [
    ...early.map((time) => `a time before birth: ${time}`),
    ...months.filter((each) => each < asOf.slice(0, 7)).map((each) => `a month that is over: ${each}`),
    ...(hasForecast && months.length !== MONTHS_AHEAD ? [`${months.length} months ahead`] : []),
    ...(hasForecast && words < LEAST_FORECAST_WORDS ? [`a forecast of ${words} words`] : []),
  ];
};

/** Sentences without a placeholder of the texts for parents, and of all others but the frames. */
const sentencesOfBooks = (locale: Locale) => {
  const parents = new Set<string>();
  const readers = new Set<string>();
  for (const { placed, forms } of textsOfBook(loadBook(locale))) {
    const family = familyOf(placed.file);
    if (family === 'frames' || family === 'labels' || family === 'labels-day') continue;
    const own = Object.values(forms)
      .flatMap(sentencesOf)
      .filter((sentence) => !/[{}]/.test(sentence));
    own.forEach((sentence) => (family === 'under7' ? parents : readers).add(sentence));
  }
  return { parents, readers };
};

const books = new Map<Locale, ReturnType<typeof sentencesOfBooks>>();

/** A reading for parents takes no sentence that speaks to the reader, and the other way round. */
const addresseeFaults = ({ locale, meta }: DocumentV1, prose: readonly string[]): string[] => {
  const { parents, readers } = books.get(locale) ?? sentencesOfBooks(locale);
  books.set(locale, { parents, readers });
  const born = meta.subject.dateOfBirth;
  const isForParents = meta.asOf < `${Number(born.slice(0, 4)) + READER_AGE}${born.slice(4)}`;
  const [own, foreign] = isForParents ? [parents, readers] : [readers, parents];
  return prose
    .flatMap(sentencesOf)
    .filter((sentence) => foreign.has(sentence) && !own.has(sentence))
    .map((sentence) => `speaks to ${isForParents ? 'the child' : 'parents'}: ${sentence}`);
};

/** What a whole reading must keep, beyond the rules of each text. */
export const readingFaults = (document: DocumentV1): string[] => {
  const prose = proseOf(document);
  return [
    ...bareMasters(document),
    ...articleFaults(document),
    ...addresseeFaults(document, prose),
    ...forecastFaults(document),
    ...countFaults(document.locale, prose),
    ...imagesTwice(document.locale, prose),
  ];
};
