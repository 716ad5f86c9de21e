import { describe, expect, it } from '@jest/globals';
import { readDate, type CalendarDate } from '../src/calendar.js';
import {
  challenges,
  periodAges,
  periods,
  personalYear,
  pinnacleAges,
  pinnacles,
  transitsAt,
} from '../src/cycles.js';
import * as of from '../src/numbers.js';
import { foldToWords, lettersOf, type StructuredName, type Word } from '../src/words.js';
import { readData } from './read-data.js';

interface Case {
  readonly id: string;
  readonly quantity: string;
  readonly name: StructuredName | null;
  readonly date_of_birth: string | null;
  readonly params: {
    readonly year?: number;
    readonly age?: number;
    readonly karmicDebt_evan?: number | null;
    readonly chain_evan?: readonly number[];
    readonly parts_evan?: readonly (readonly [string, number, number])[];
  };
  readonly evan_value: unknown;
}

const { cases } = JSON.parse(readData('numerology-cases.json')) as { readonly cases: readonly Case[] };

/** The input of a quantity. `words` and `birth` throw when the case has none. */
interface Given {
  readonly words: readonly Word[];
  readonly birth: CalendarDate;
  readonly params: Case['params'];
}

const values = (figures: readonly { readonly value: number }[]): number[] =>
  figures.map(({ value }) => value);
const pathRoot = ({ birth }: Given): number => of.lifePath(birth).root;

const FIGURES = {
  lifePath: ({ birth }: Given) => of.lifePath(birth),
  birthday: ({ birth }: Given) => of.birthday(birth),
  expression: ({ words }: Given) => of.expression(words),
  soulUrge: ({ words }: Given) => of.soulUrge(words),
  personality: ({ words }: Given) => of.personality(words),
  active: ({ words }: Given) => of.groupNumber(words, 'first'),
  heredity: ({ words }: Given) => of.groupNumber(words, 'last'),
  maturity: ({ words, birth }: Given) => of.maturity(of.lifePath(birth), of.expression(words)),
  balance: ({ words }: Given) => of.balance(words),
  rationalThought: ({ words, birth }: Given) => of.rationalThought(words, birth.day),
  subconsciousSelf: ({ words }: Given) => of.subconsciousSelf(of.grid(lettersOf(words)).lessons),
} as const;

const VALUES: Readonly<Record<string, (given: Given) => unknown>> = {
  yRole: ({ words }) => lettersOf(words).find(({ letter }) => letter === 'Y')?.role,
  inclusion: ({ words }) => of.grid(lettersOf(words)).counts,
  karmicLessons: ({ words }) => of.grid(lettersOf(words)).lessons,
  hiddenPassion: ({ words }) => of.grid(lettersOf(words)).hiddenPassion,
  planesOfExpression: ({ words }) =>
    Object.fromEntries(
      Object.entries(of.planes(lettersOf(words))).map(([plane, { count }]) => [plane, count]),
    ),
  pinnacles: (given) => values(pinnacles(given.birth, pathRoot(given), 0)),
  pinnacleAges: (given) => pinnacleAges(pathRoot(given)),
  periodCycles: (given) => values(periods(given.birth, pathRoot(given), 0)),
  periodAges: (given) => periodAges(pathRoot(given)),
  challenges: ({ birth }) => Object.values(challenges(birth)),
  bridges: ({ words, birth }) =>
    of.bridges(of.lifePath(birth), of.expression(words), of.soulUrge(words), of.personality(words)),
  personalYear: ({ birth, params }) => personalYear(birth, params.year ?? NaN),
  essence: ({ words, params }) => transitsAt(words, params.age ?? NaN).essence.value,
};

/** The personal day is in no reading. */
const isOurs = ({ quantity }: Case): boolean => quantity !== 'personalDay';
const isFigure = (quantity: string): quantity is keyof typeof FIGURES => quantity in FIGURES;

function given({ name, date_of_birth, params }: Case): Given {
  return {
    params,
    get words() {
      if (!name) throw new Error('the case gives no name');
      return foldToWords(name).words;
    },
    get birth() {
      const birth = readDate(date_of_birth ?? '');
      if (!birth) throw new Error('the case gives no date of birth');
      return birth;
    },
  };
}

describe('the worked cases of published sources', () => {
  it.each(cases.filter(isOurs).map((entry) => [entry.id, entry.quantity, entry] as const))(
    '%s %s',
    (_id, quantity, entry) => {
      const { chain_evan, karmicDebt_evan, parts_evan } = entry.params;
      if (!isFigure(quantity)) {
        expect(VALUES[quantity]?.(given(entry))).toEqual(entry.evan_value);
        return;
      }
      const figure = FIGURES[quantity](given(entry));
      expect(figure.value).toBe(entry.evan_value);
      if (chain_evan) expect(figure.chain).toEqual(chain_evan);
      if (karmicDebt_evan !== undefined) expect(figure.karmicDebt).toBe(karmicDebt_evan);
      if (parts_evan && 'parts' in figure) {
        expect(figure.parts).toEqual(parts_evan.map(([word, sum, value]) => ({ word, sum, value })));
      }
    },
  );

  it('include Thomas Cruise Mapother, whose letters at 20 are A, I and H', () => {
    const name = { firstNames: ['Thomas'], middleNames: ['Cruise'], lastNames: ['Mapother'] };
    expect(transitsAt(foldToWords(name).words, 20).transits).toEqual({
      physical: 'A',
      mental: 'I',
      spiritual: 'H',
    });
  });
});
