import { label, per, prose, type ShapeTree } from './shape.js';

export const ROOTS = [1, 2, 3, 4, 5, 6, 7, 8, 9] as const;
export const NUMBERS = [...ROOTS, 11, 22, 33] as const;

const ALL_AGES = ['7-15', '16-29', '60-79', '80+'] as const;
const range = (from: number, to: number): number[] =>
  Array.from({ length: to - from + 1 }, (_, at) => from + at);

/** One file for each key, e.g. `life-path/7`. */
export const filePer = <S extends ShapeTree>(
  folder: string,
  keys: readonly number[],
  shape: S,
): Record<string, S> => Object.fromEntries(keys.map((key) => [`${folder}/${key}`, shape]));

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

/** What is told of the person: numbers of the birth date and of the name. Key: the file, without its ending. */
export const PERSON_FAMILIES: Readonly<Record<string, ShapeTree>> = {
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
    strongest: per(['physical', 'mental', 'emotional', 'intuitive'], prose(60, { forms: 3 })),
    absent: per(['physical', 'mental', 'emotional', 'intuitive'], prose(50)),
  },
  springs: {
    ...per(['balance', 'rationalThought'], per(ROOTS, prose(30))),
    subconsciousSelf: { ...per([1, 2, 3, 4, 5, 9], prose(30)), ...per(USUAL_CELLS, prose(30, { forms: 3 })) },
  },
  debts: per([13, 14, 16, 19], debt),
  again: per(NUMBERS, again),
};
