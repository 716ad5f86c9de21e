import { filePer, NUMBERS, ROOTS } from './person-families.js';
import { per, prose, type ShapeTree } from './shape.js';

const DAYS = Array.from({ length: 31 }, (_, at) => at + 1);
const RELATIONS = ['same', 'ally', 'complement', 'friction'] as const;

const number = {
  lifePath: { lead: prose(60), gift: prose(110), cost: prose(90), play: prose(110), help: prose(110) },
  expression: { text: prose(160), help: prose(140) },
  soulUrge: { text: prose(130), help: prose(120) },
  personality: prose(180),
  active: prose(60),
  heredity: prose(60),
  maturity: prose(50),
  period: prose(110),
  laterPeriod: prose(45),
  pinnacle: prose(150),
  laterPinnacle: prose(50),
};

/** The book for the parents of a child under seven: it speaks of "your child", never to the child. */
export const UNDER_SEVEN_FAMILIES: Readonly<Record<string, ShapeTree>> = {
  ...filePer('under7', NUMBERS, number),
  'under7/days': per(DAYS, prose(60)),
  'under7/pairs': {
    path: per(RELATIONS, prose(110, { uses: ['lifePath', 'expression'] })),
    soul: per(RELATIONS, prose(110, { uses: ['soulUrge', 'personality'] })),
  },
  'under7/grid': { passion: per(ROOTS, prose(70)), lesson: per(ROOTS, prose(80)) },
  'under7/debts': per([13, 14, 16, 19], prose(100)),
  'under7/challenges': per([0, 1, 2, 3, 4, 5, 6, 7, 8], { main: prose(90), minor: prose(35) }),
  'under7/year': per(ROOTS, {
    climate: prose(80),
    play: prose(70),
    people: prose(70),
    home: prose(70),
    next: prose(90),
    /** A month with this number, the first, the second and the third of the twelve ahead. */
    month: prose(40),
    secondMonth: prose(40),
    thirdMonth: prose(40),
  }),
  'under7/essence': per([...ROOTS, 11, 22], prose(90, { uses: ['physical', 'mental', 'spiritual'] })),
  'under7/synthesis': per(ROOTS, { dominant: prose(150), help: prose(70), question: prose(15) }),
};
