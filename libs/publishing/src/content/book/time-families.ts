import { filePer, NUMBERS, ROOTS } from './person-families.js';
import { per, prose, type ShapeTree } from './shape.js';
import { TRAIT_NAMES } from './traits.js';

const CHALLENGES = [0, 1, 2, 3, 4, 5, 6, 7, 8] as const;
const MONTHS = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12] as const;
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
  months: per(MONTHS, prose(45)),
};

const challenge = { main: prose(140), early: prose(45), middle: prose(45), late: prose(45) };

const tension = per(['friction', 'near', 'far'], per(STAGES, prose(100, { uses: ['first', 'second'] })));
const threshold = prose(100, { forms: 3, uses: ['age', 'from', 'to'] });

/** What is told of the times of a life, and of the whole. */
export const TIME_FAMILIES: Readonly<Record<string, ShapeTree>> = {
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
