import { filePer, NUMBERS, ROOTS } from './person-families.js';
import { per, prose, type ShapeTree } from './shape.js';

const DAYS = Array.from({ length: 31 }, (_, at) => at + 1);
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
export const UNDER_SEVEN_FAMILIES: Readonly<Record<string, ShapeTree>> = {
  ...filePer('under7', NUMBERS, number),
  'under7/days': per(DAYS, prose(60)),
  'under7/pairs': {
    path: per(RELATIONS, prose(140, { forms: 3, uses: ['lifePath', 'expression'] })),
    soul: per(RELATIONS, prose(140, { forms: 3, uses: ['soulUrge', 'personality'] })),
  },
  'under7/grid': {
    passion: per(ROOTS, prose(70)),
    lesson: per(ROOTS, prose(80)),
    plane: per(['physical', 'mental', 'emotional', 'intuitive'], prose(70, { forms: 3 })),
    balance: per(ROOTS, prose(80)),
  },
  'under7/debts': per([13, 14, 16, 19], prose(100)),
  'under7/challenges': per([0, 1, 2, 3, 4, 5, 6, 7, 8], { main: prose(120), minor: prose(35) }),
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
  'under7/essence': per([...ROOTS, 11, 22], prose(110, { uses: ['physical', 'mental', 'spiritual'] })),
  'under7/synthesis': per(ROOTS, {
    dominant: prose(150, { forms: 3 }),
    parents: prose(110, { forms: 3 }),
    help: prose(70),
    question: prose(15),
  }),
};
