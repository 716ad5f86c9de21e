import { z } from 'zod';
import { message } from './message.js';
import { again, maturity, minor, nameParts, pairs, planes } from './name-families.js';
import { perNumber, perRoot } from './shapes.js';
import { challenges, essence, pinnacles, threads } from './time-families.js';

const terms = z.strictObject({
  lifePath: message(),
  birthday: message(),
  expression: message(),
  soulUrge: message(),
  personality: message(),
  active: message(),
  heredity: message(),
  maturity: message(),
  balance: message(),
  rationalThought: message(),
  subconsciousSelf: message(),
  personalYear: message(),
  periods: message(),
  period: message(),
  pinnacles: message(),
  pinnacle: message(),
  position: message(),
  number: message(),
  theme: message(),
  weight: message(),
  letters: message(),
  years: message(),
  reduction: message(),
  word: message(),
  allLetters: message(),
  vowels: message(),
  consonants: message(),
  none: message(),
  letterCountOne: message(),
  letterCountMany: message('count'),
  onward: message('year'),
  span: message('from', 'to'),
});

const numbers = perNumber(
  z.strictObject({
    archetype: message(),
    keywords: z.array(message()).length(3),
    /** A noun phrase with its article: "the taste for beginnings". */
    theme: message(),
  }),
);

const frames = z.strictObject({
  title: message(),
  born: message('date'),
  established: message('date'),
  opening: z.strictObject({
    title: message(),
    greeting: message('name', 'date'),
    use: message(),
    young: message(),
    beyond: message(),
    noticeTitle: message(),
  }),
  overview: z.strictObject({
    title: message(),
    portrait: z.strictObject({
      lifePath: message('number', 'theme'),
      expression: message('number', 'theme'),
      expressionEcho: message('number'),
      soulUrge: message('number', 'theme'),
      soulUrgeEcho: message('number'),
      soulUrgeNone: message(),
      end: message(),
    }),
    tableIntro: message(),
    wheelIntro: message(),
    wheelCaption: message(),
    wheelAlt: message('dominant', 'absent'),
    wheelAltComplete: message('dominant'),
  }),
  path: z.strictObject({
    title: message(),
    dayTitle: message(),
    dayIntro: message('day', 'number'),
    questionTitle: message(),
  }),
  debtTitle: message('debt'),
  name: z.strictObject({
    title: message(),
    intro: message('name'),
    expressionTitle: message(),
    soulUrgeTitle: message(),
    personalityTitle: message(),
  }),
  year: z.strictObject({
    title: message('year'),
    intro: message('year', 'number'),
    practiceTitle: message(),
    nextTitle: message('year'),
    stripCaption: message(),
    stripAlt: message('from', 'to', 'year', 'number'),
    beyond: message(),
  }),
  notice: z.strictObject({ title: message(), text: message() }),
});

const lifePath = perNumber(
  z.strictObject({
    lead: message(),
    drive: message(),
    cost: message(),
    /** Further scenes under headings of their own, where the number is written at full length. */
    more: z.array(z.strictObject({ title: message(), text: message() })).default([]),
    question: message(),
  }),
);

/** One paragraph, or several where the number is written at full length. */
const paragraphs = z.union([z.array(message()).min(2), message().transform((only) => [only])]);

const birthday = perRoot(message()).extend({ 11: message(), 22: message() });

const grid = z.strictObject({
  title: message(),
  intro: message('count'),
  figureCaption: message(),
  figureAlt: message('passion', 'lessons'),
  figureAltComplete: message('passion'),
  passionTitle: message(),
  passionOne: message('number', 'count'),
  passionTie: message('numbers', 'count'),
  passion: perRoot(message()),
  lessonsTitle: message(),
  lessonsNone: message(),
  lessonsOne: message(),
  lessonsMany: message(),
  lesson: perRoot(message()),
});

const cycles = z.strictObject({
  title: message(),
  intro: message(),
  timelineCaption: message(),
  timelineAlt: message('period', 'pinnacle'),
  climateTitle: message('number'),
  period: perNumber(message()),
  nowTitle: message('number'),
  spanFirst: message('number', 'toAge'),
  spanMiddle: message('number', 'fromAge', 'toAge'),
  spanLast: message('number', 'fromAge'),
  pinnacle: perNumber(message()),
});

const personalYear = perRoot(z.strictObject({ text: message(), practice: message(), next: message() }));

/** A text in two parts, each rounded off by a frame that cites two numbers and a moment of the life. */
const inTwo = z.array(message()).length(2);

const synthesis = z.strictObject({
  title: message(),
  /** Each position with its article, to follow "found in". */
  positions: z.strictObject({
    lifePath: message(),
    expression: message(),
    soulUrge: message(),
    personality: message(),
    birthday: message(),
    maturity: message(),
    hiddenPassion: message(),
  }),
  weightOne: z.strictObject({
    quiet: message('number', 'positions', 'period'),
    clear: message('number', 'positions', 'period'),
    strong: message('number', 'positions', 'period'),
  }),
  weightTie: message('numbers', 'number', 'period'),
  weightPeriod: z.strictObject({ same: message('number', 'period'), other: message('number', 'period') }),
  /** By how far the number outweighs the rest, or for a reader under sixteen. */
  dominant: perRoot(z.strictObject({ quiet: inTwo, clear: inTwo, strong: inTwo, young: inTwo })),
  absentTitle: message(),
  absentNone: message('period'),
  absentOne: message('number', 'theme', 'period'),
  absentMany: message('numbers', 'period'),
  absent: perRoot(z.strictObject({ line: message(), full: message() })),
  momentFirst: message('dominant', 'pinnacle', 'toAge'),
  momentUntil: message('dominant', 'pinnacle', 'toAge'),
  momentLast: message('dominant', 'pinnacle', 'fromAge'),
  momentBeyond: message('dominant', 'pinnacle', 'fromAge'),
  questionTitle: message(),
  question: perRoot(z.array(message()).length(3)),
});

const method = z.strictObject({
  title: message(),
  intro: message('method'),
  conventions: z.array(message()).length(6),
  wordsTitle: message(),
  words: message('count'),
  ignored: message('words'),
  yNone: message(),
  yRoles: message('roles'),
  yVowel: message('word'),
  yConsonant: message('word'),
  lettersTitle: message(),
  chainsTitle: message(),
  chainsIntro: message(),
  asOf: message('date', 'method', 'engine', 'content'),
});

/** Schema of each content file, by its name without extension; the same for every language. */
export const FAMILIES = {
  terms,
  numbers,
  frames,
  'life-path': lifePath,
  birthday,
  expression: perNumber(paragraphs),
  'soul-urge': perNumber(message()).extend({ none: message() }),
  personality: perNumber(message()).extend({ none: message() }),
  'karmic-debt': z.strictObject({ 13: message(), 14: message(), 16: message(), 19: message() }),
  grid,
  cycles,
  'personal-year': personalYear,
  synthesis,
  method,
  'name-parts': nameParts,
  maturity,
  pairs,
  planes,
  minor,
  again,
  pinnacles,
  challenges,
  essence,
  threads,
};

export type Family = keyof typeof FAMILIES;
export type Catalog = { readonly [F in Family]: z.infer<(typeof FAMILIES)[F]> };
