import { label, per, prose, type ShapeTree, TRAIT_NAMES } from './shape.js';

const ROOTS = [1, 2, 3, 4, 5, 6, 7, 8, 9] as const;
const NUMBERS = [...ROOTS, 11, 22, 33] as const;

const PLANES = ['physical', 'mental', 'emotional', 'intuitive'] as const;
const ALL_AGES = ['7-15', '16-29', '60-79', '80+'] as const;
const range = (from: number, to: number): number[] =>
  Array.from({ length: to - from + 1 }, (_, at) => from + at);

/** One file for each key, e.g. `life-path/7`. */
const filePer = <S extends ShapeTree>(folder: string, keys: readonly number[], shape: S): Record<string, S> =>
  Object.fromEntries(keys.map((key) => [`${folder}/${key}`, shape]));

const lifePath = {
  lead: prose(60, { forms: 3 }),
  drive: prose(110, { by: 'expression', traits: true }),
  cost: prose(90, { forms: 3, traits: true }),
  others: prose(120, { by: 'soulUrge', traits: true }),
  work: prose(120, { ages: ALL_AGES }),
  time: prose(100, { ages: ALL_AGES }),
  help: prose(100, { forms: 3 }),
  question: prose(15, { forms: 3 }),
};

const expression = {
  gift: prose(120, { by: 'lifePath', traits: true }),
  craft: prose(120, { ages: ['7-15', '60-79', '80+'] }),
  cost: prose(110, { traits: true }),
  help: prose(100),
};

const soulUrge = {
  wish: prose(130, { traits: true }),
  hidden: prose(120, { traits: true }),
  love: prose(130, { ages: ['7-15', '80+'] }),
};

const personality = {
  first: prose(110, { traits: true }),
  scene: prose(100, { ages: ['7-15'] }),
  behind: prose(90),
};

/** The name of a number at one position, the same in every reading. `theme` is a noun phrase with its article. */
const card = { archetype: label(), keywords: label(), theme: label() };
const row = { theme: label() };

const labels = per(NUMBERS, {
  lifePath: card,
  expression: card,
  soulUrge: card,
  personality: card,
  active: row,
  heredity: row,
  maturity: row,
});

const again = {
  expression: prose(60),
  soulUrge: prose(60, { uses: ['earlier'] }),
  personality: prose(60, { uses: ['earlier'] }),
  third: prose(60),
  fourth: prose(50),
};

const debt = {
  text: prose(140, { forms: 3, traits: true }),
  ...per(['lifePath', 'expression', 'soulUrge', 'personality', 'birthday'], prose(60)),
};

/** The values of the letters that both languages use most. */
const FREQUENT_LETTERS = [1, 5, 9] as const;
/** How many cells of the grid most names fill. */
const USUAL_CELLS = [6, 7, 8] as const;

/** What is told of the person: numbers of the birth date and of the name. */
const PERSON = {
  labels,
  'labels-day': { ...per([...ROOTS, 11, 22], row) },
  ...filePer('life-path', NUMBERS, lifePath),
  ...filePer('life-path-colour', NUMBERS, per(ROOTS, prose(60))),
  compounds: per(range(10, 36), prose(45)),
  birthday: per(range(1, 31), prose(100, { traits: true })),
  ...filePer('expression', NUMBERS, expression),
  ...filePer('soul-urge', NUMBERS, soulUrge),
  ...filePer('personality', NUMBERS, personality),
  none: { soulUrge: prose(120), personality: prose(120), pair: prose(80) },
  ...filePer('pairs-path', ROOTS, per(ROOTS, prose(110, { uses: ['lifePath', 'expression'] }))),
  ...filePer('pairs-soul', ROOTS, per(ROOTS, prose(110, { uses: ['soulUrge', 'personality'] }))),
  maturity: per(NUMBERS, { before: prose(120), after: prose(120) }),
  active: per(NUMBERS, prose(90, { traits: true })),
  heredity: per(NUMBERS, prose(90)),
  passion: {
    ...per([2, 3, 4, 6, 7, 8], prose(60, { traits: true })),
    ...per(FREQUENT_LETTERS, prose(60, { forms: 3, traits: true })),
  },
  lessons: per(ROOTS, {
    plain: prose(110, { traits: true }),
    core: prose(110, { traits: true, uses: ['position'] }),
    dominant: prose(110, { traits: true }),
  }),
  planes: {
    strongest: per(PLANES, prose(60, { forms: 3 })),
    absent: per(PLANES, prose(50)),
  },
  springs: {
    ...per(['balance', 'rationalThought'], per(ROOTS, prose(30))),
    subconsciousSelf: { ...per([1, 2, 3, 4, 5, 9], prose(30)), ...per(USUAL_CELLS, prose(30, { forms: 3 })) },
  },
  debts: per([13, 14, 16, 19], debt),
  again: per(NUMBERS, again),
};

const CHALLENGES = [0, 1, 2, 3, 4, 5, 6, 7, 8] as const;
const STAGES = ['first', 'second', 'third'] as const;
const STRENGTHS = ['quiet', 'clear', 'strong'] as const;

/** The numbers a period can have: no month gives 22, and no date of the calendar gives 33. */
const BY_MONTH = [...ROOTS, 11] as const;
const BY_DAY_OR_YEAR = [...ROOTS, 11, 22] as const;

const year = {
  climate: prose(75),
  love: prose(65, { ages: ['7-15'] }),
  work: prose(70, { ages: ['7-15', '60-79', '80+'] }),
  home: prose(65, { ages: ['7-15'] }),
  inner: prose(55),
  practice: prose(20),
  next: prose(120),
  months: per(range(1, 12), prose(45)),
};

const challenge = { main: prose(140), early: prose(45), middle: prose(45), late: prose(45) };

const tension = per(['friction', 'near', 'far'], per(STAGES, prose(100, { uses: ['first', 'second'] })));
const threshold = prose(100, { forms: 3, uses: ['age', 'from', 'to'] });

/** What is told of the times of a life, and of the whole. */
const TIMES = {
  'periods/first': per(BY_MONTH, prose(110, { ages: ['7-15'] })),
  'periods/second': per(BY_DAY_OR_YEAR, prose(110)),
  'periods/third': per(BY_DAY_OR_YEAR, prose(110)),
  'pinnacles/current': per(NUMBERS, prose(180, { ages: ['7-15'] })),
  'pinnacles/past': per(NUMBERS, prose(70)),
  'pinnacles/ahead': per(NUMBERS, prose(70)),
  challenges: {
    ...per(CHALLENGES, challenge),
    /** The main challenge of a quarter of all dates. */
    1: { ...challenge, main: prose(140, { forms: 3 }) },
  },
  ...filePer('year', ROOTS, year),
  essence: per(BY_DAY_OR_YEAR, prose(130, { uses: ['physical', 'mental', 'spiritual'] })),
  'synthesis/dominant': per(
    ROOTS,
    per(STRENGTHS, {
      open: prose(75, { ages: ['7-15'], traits: true }),
      close: prose(75, { ages: ['7-15'] }),
    }),
  ),
  'synthesis/moment': per(ROOTS, per(STAGES, prose(50, { uses: ['period'] }))),
  'synthesis/tension': {
    path: tension,
    soul: tension,
    none: prose(100, { forms: 3, uses: ['first', 'second'] }),
  },
  'synthesis/resource': per(ROOTS, prose(110, { uses: ['position'] })),
  'synthesis/threshold': per(
    ['pinnacleComing', 'pinnacleBegun', 'periodComing', 'periodBegun', 'same'],
    threshold,
  ),
  'synthesis/rare': per(['33', 'five-lessons', 'no-vowel', 'all-nine'], prose(110)),
  'synthesis/absent': per(ROOTS, { full: prose(90, { traits: true }), line: prose(12) }),
  /** Reconciles two texts of one reading that claim both poles of a trait; the places that claim them are filled in. */
  'synthesis/bridges': per(TRAIT_NAMES, prose(50, { uses: ['plus', 'minus'] })),
  'synthesis/questions': per(ROOTS, per([1, 2, 3], prose(14))),
};

const RELATIONS = ['same', 'ally', 'complement', 'friction'] as const;

const number = {
  lifePath: {
    lead: prose(60),
    gift: prose(110, { forms: 3 }),
    cost: prose(90, { forms: 3 }),
    play: prose(110, { forms: 3 }),
    others: prose(110, { forms: 3 }),
    help: prose(110, { forms: 3 }),
  },
  expression: { text: prose(160), help: prose(140) },
  soulUrge: { text: prose(130), help: prose(120) },
  personality: { text: prose(180), help: prose(100) },
  active: prose(80),
  heredity: prose(80),
  maturity: prose(50),
  period: prose(110),
  laterPeriod: prose(70),
  pinnacle: prose(150),
  laterPinnacle: prose(75),
};

/** The book for the parents of a child under seven: it speaks of "your child", never to the child. */
const UNDER_SEVEN = {
  ...filePer('under7', NUMBERS, number),
  'under7/days': per(range(1, 31), prose(60)),
  'under7/pairs': {
    path: per(RELATIONS, prose(140, { forms: 3, uses: ['lifePath', 'expression'] })),
    soul: per(RELATIONS, prose(140, { forms: 3, uses: ['soulUrge', 'personality'] })),
  },
  'under7/grid': {
    passion: per(ROOTS, prose(70)),
    lesson: per(ROOTS, prose(80)),
    plane: per(PLANES, prose(70, { forms: 3 })),
    balance: per(ROOTS, prose(80)),
  },
  'under7/debts': per([13, 14, 16, 19], prose(100)),
  'under7/challenges': per(CHALLENGES, { main: prose(120), minor: prose(35) }),
  'under7/year': per(ROOTS, {
    climate: prose(80),
    practice: prose(25),
    play: prose(70),
    words: prose(70),
    people: prose(70),
    home: prose(70),
    next: prose(120),
    /** A month with this number, the first, the second and the third of the twelve ahead. */
    month: prose(40, { forms: 3 }),
    secondMonth: prose(40),
    thirdMonth: prose(40),
  }),
  /** For a child born in the year of the reading. */
  'under7/arrival': { year: prose(140, { forms: 3, uses: ['month'] }) },
  'under7/essence': per(BY_DAY_OR_YEAR, prose(110, { uses: ['physical', 'mental', 'spiritual'] })),
  'under7/synthesis': per(ROOTS, {
    dominant: prose(150, { forms: 3 }),
    parents: prose(110, { forms: 3 }),
    help: prose(70),
    question: prose(15),
  }),
};

/** Titles, links, captions and the page of the method: what stands around the texts of the book. */
const FRAMES = [
  'terms', 'opening', 'overview', 'path', 'name', 'grid', 'cycles', 'year', 'synthesis', 'method', 'under7',
]; // prettier-ignore

/**
 * The shape of each file of the book, the same for every language; the key is its path without the ending. Frames have
 * the shape of what is written.
 */
export const BOOK: Readonly<Record<string, ShapeTree | 'frames'>> = {
  ...PERSON,
  ...TIMES,
  ...UNDER_SEVEN,
  ...Object.fromEntries(FRAMES.map((file) => [`frames/${file}`, 'frames' as const])),
};

/** The family of a file: its folder, or the file itself. */
export const familyOf = (file: string): string => file.split('/')[0] ?? file;
