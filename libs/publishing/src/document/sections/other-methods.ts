import { chain, digitSum, type Figure, figure, indebtedFigure, root } from '#numerology/index.js';
import type { Composer } from '../composer.js';
import type { Inline } from '../document.js';
import { isBeyond } from '../facts.js';
import { added, birthOf, type CountedLetter, countedWords, steps, total } from './spelling.js';

const NAME_NUMBERS = ['expression', 'soulUrge', 'personality'] as const;
type NameNumber = (typeof NAME_NUMBERS)[number];

const differs = ({ result }: Composer, key: 'lifePath' | NameNumber, sum: number): boolean =>
  sum > 0 && indebtedFigure(sum).display !== result.numbers[key].display;

type LetterChoice = (letter: CountedLetter) => boolean;
const ROLES: Readonly<Record<NameNumber, LetterChoice>> = {
  expression: () => true,
  soulUrge: ({ vowel }) => vowel,
  personality: ({ vowel }) => !vowel,
};

const lastOf = (sum: number): number => chain(sum).at(-1) ?? 0;

/** The sum of a number counted word by word: each word reduced, or a single one not yet. 0: no letter counts. */
const byWord = ({ result }: Composer, counts: LetterChoice, reduce: (sum: number) => number): number => {
  const words = countedWords(result)
    .map(({ spelling }) => total(spelling.filter(counts)))
    .filter((sum) => sum > 0);
  return words.length === 1 ? words[0]! : words.reduce((whole, each) => whole + reduce(each), 0);
};

/** The Life Path by the two other usual sums of a date. */
const otherPaths = (composer: Composer): Inline[][] => {
  const { year, month, day } = birthOf(composer);
  const own = composer.result.numbers.lifePath.display;
  const line = (key: string, sum: number, addends: readonly number[]): Inline[][] => {
    if (!differs(composer, 'lifePath', sum)) return [];
    const values = { sum: added(addends), other: indebtedFigure(sum).display, own };
    return [composer.say(`frames/method others.${key}`, values)];
  };
  const digits = [...`${month}${day}${year}`].map(Number);
  return [
    ...line('digits', digitSum(year) + digitSum(month) + digitSum(day), digits),
    ...line('whole', year + month + day, [month, day, year]),
  ];
};

/** Another sum of a number of the name, where it ends elsewhere. */
const ofName = (composer: Composer, frame: string, key: NameNumber, sum: number): Inline[][] => {
  const { result, say, plain } = composer;
  if (!differs(composer, key, sum)) return [];
  const values = { sum: steps(sum), other: indebtedFigure(sum).display, own: result.numbers[key].display };
  return [say(`frames/method others.${frame}`, { ...values, number: plain(`frames/terms ${key}`) })];
};

/** The numbers of the name by one sum of all letters. */
const otherSums = (composer: Composer): Inline[][] => {
  const letters = countedWords(composer.result).flatMap(({ spelling }) => spelling);
  return NAME_NUMBERS.flatMap((key) => ofName(composer, 'oneSum', key, total(letters.filter(ROLES[key]))));
};

/** The two numbers that change when every Y is a vowel, or none is. */
const otherYs = (composer: Composer): Inline[][] => {
  const line = (frame: 'yVowel' | 'yConsonant', isVowel: LetterChoice): Inline[][] => [
    ...ofName(composer, frame, 'soulUrge', byWord(composer, isVowel, lastOf)),
    ...ofName(
      composer,
      frame,
      'personality',
      byWord(composer, (letter) => !isVowel(letter), lastOf),
    ),
  ];
  return [
    ...line('yVowel', ({ letter, vowel }) => vowel || letter === 'Y'),
    ...line('yConsonant', ({ letter, vowel }) => vowel && letter !== 'Y'),
  ];
};

const ROUND = 9;
/** French authors begin the later periods in the personal years 1 nearest to these ages. */
const [SECOND, THIRD] = [28, 56] as const;

const nearest = (age: number, to: number): number =>
  Math.abs(age - ROUND - to) < Math.abs(age - to) ? age - ROUND : age;

const otherPeriods = ({ result, say }: Composer): Inline[][] => {
  const [, second = 0, third = 0] = result.cycles.periods.map(({ fromAge }) => fromAge);
  const ages = [nearest(second, SECOND), nearest(third, THIRD)];
  if (ages[0] === second && ages[1] === third) return [];
  return [say('frames/method others.periods', { second: String(ages[0]), third: String(ages[1]) })];
};

const otherYear = ({ result, say }: Composer): Inline[][] => {
  const { now, asOf, subject } = result;
  if (isBeyond(result) || asOf.slice(5) >= subject.dateOfBirth.slice(5)) return [];
  const before = now.personalYear === 1 ? ROUND : now.personalYear - 1;
  const values = { other: String(before), own: String(now.personalYear) };
  return [say('frames/method others.birthdayYear', values)];
};

const lastTo22 = (sum: number): number => (lastOf(sum) === 33 ? root(sum) : lastOf(sum));

/** Books that stop at 22 reduce a 33 to 6, in a word of the name as in a number, and so end elsewhere. */
const otherMasters = (composer: Composer): Inline[][] => {
  const { result, say, plain, list: join } = composer;
  const { numbers, cycles } = result;
  const shown = ({ value, display }: Figure): string => (value === 33 ? String(root(value)) : display);
  const named = NAME_NUMBERS.map((key) => ({ key, sum: byWord(composer, ROLES[key], lastTo22) }));
  const maturity = lastTo22(numbers.lifePath.value) + lastTo22(named[0]?.sum ?? 0);
  const ofNumbers = [
    { key: 'lifePath' as const, other: shown(numbers.lifePath) },
    ...named.filter(({ sum }) => sum > 0).map(({ key, sum }) => ({ key, other: shown(indebtedFigure(sum)) })),
    { key: 'active' as const, other: shown(numbers.active) },
    { key: 'heredity' as const, other: shown(numbers.heredity) },
    { key: 'maturity' as const, other: shown(figure(maturity)) },
  ].map(({ key, other }) => ({ name: plain(`frames/terms ${key}`), own: numbers[key].display, other }));
  const [first = 0, second = 0] = cycles.pinnacles.map(({ value }) => lastTo22(value));
  const pinnacles = cycles.pinnacles.map((stage) => ({
    name: `${plain('frames/terms pinnacle')} ${stage.index}`,
    own: stage.display,
    other: shown(stage.index === 3 ? figure(first + second) : stage),
  }));
  const told = [...ofNumbers, ...pinnacles]
    .filter(({ own, other }) => own !== other)
    .map(({ name, other }) => `${name} (${other})`);
  return told.length === 0 ? [] : [say('frames/method others.no33', { numbers: join(told) })];
};

/** What another usual method makes of this person, where it makes something else: a line each. */
export const otherMethods = (composer: Composer): Inline[][] => [
  ...otherPaths(composer),
  ...otherSums(composer),
  ...otherYs(composer),
  ...otherMasters(composer),
  ...otherPeriods(composer),
  ...otherYear(composer),
];
