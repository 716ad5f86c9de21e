import { chain, digitSum, type Figure, figure, indebtedFigure, root } from '#numerology/index.js';
import type { Composer } from '../../composer.js';
import type { Inline, Section } from '../../document.js';
import { isBeyond } from '../../facts.js';
import { list, paragraph, section } from '../../nodes.js';
import { birthOf } from './dates.js';
import { added, type CountedLetter, countedWords, steps, total } from './spelling.js';

/** The numbers that keep a debt. */
const INDEBTED = ['lifePath', 'birthday', 'expression', 'soulUrge', 'personality'] as const;
const NAME_NUMBERS = ['expression', 'soulUrge', 'personality'] as const;
type NameNumber = (typeof NAME_NUMBERS)[number];

/** What a master number and a karmic debt are, and which this person has. */
export const mastersAndDebts = ({ result, say, plain, list: join }: Composer): Section => {
  const { numbers, karmicDebts } = result;
  const masters = Object.entries(numbers)
    .filter(([, { master }]) => master)
    .map(([key, { display }]) => `${plain(`frames/terms ${key}`)}\u00A0${display}`);
  const debts = karmicDebts.map(({ at }) => {
    const key = INDEBTED.find((each) => at === `numbers.${each}`) ?? 'lifePath';
    return `${plain(`frames/terms ${key}`)}\u00A0${numbers[key].display}`;
  });
  const own = (what: 'masters' | 'debts', found: readonly string[]): Inline[] =>
    found.length === 0
      ? say(`frames/method ${what}None`)
      : say(`frames/method ${what}Own`, { numbers: join(found) });
  return section('method.masters', 'subsection', plain('frames/method mastersTitle'), [
    paragraph('method.masters.text', say('frames/method masters')),
    paragraph('method.masters.own', own('masters', masters)),
    paragraph('method.debts.text', say('frames/method debts')),
    paragraph('method.debts.own', own('debts', debts)),
  ]);
};

const differs = (composer: Composer, key: 'lifePath' | NameNumber, sum: number): boolean =>
  sum > 0 && indebtedFigure(sum).display !== composer.result.numbers[key].display;

type LetterChoice = (letter: CountedLetter) => boolean;
const ROLES: Readonly<Record<NameNumber, LetterChoice>> = {
  expression: () => true,
  soulUrge: ({ vowel }) => vowel,
  personality: ({ vowel }) => !vowel,
};

/** The Life Path by the two other usual sums of a date. */
const otherPaths = (composer: Composer): Inline[][] => {
  const { result, say } = composer;
  const { year, month, day } = birthOf(composer);
  const own = result.numbers.lifePath.display;
  const digits = [...`${month}${day}${year}`].map(Number);
  const inRow = digitSum(year) + digitSum(month) + digitSum(day);
  const whole = year + month + day;
  const line = (key: string, sum: number, text: string): Inline[][] =>
    differs(composer, 'lifePath', sum)
      ? [say(`frames/method others.${key}`, { sum: text, other: indebtedFigure(sum).display, own })]
      : [];
  return [...line('digits', inRow, added(digits)), ...line('whole', whole, added([month, day, year]))];
};

/** The numbers of the name by one sum of all letters. */
const otherSums = (composer: Composer): Inline[][] => {
  const { result, say, plain } = composer;
  const letters = countedWords(result).flatMap(({ spelling }) => spelling);
  return NAME_NUMBERS.flatMap((key) => {
    const sum = total(letters.filter(ROLES[key]));
    if (!differs(composer, key, sum)) return [];
    const values = { sum: steps(sum), other: indebtedFigure(sum).display, own: result.numbers[key].display };
    return [say('frames/method others.oneSum', { ...values, number: plain(`frames/terms ${key}`) })];
  });
};

const lastOf = (sum: number): number => chain(sum).at(-1) ?? 0;

/** The two numbers that change when every Y is a vowel, or none is. */
const otherYs = (composer: Composer): Inline[][] => {
  const { result, say, plain } = composer;
  const counted = countedWords(result);
  const line = (key: 'yVowel' | 'yConsonant', isVowel: LetterChoice): Inline[][] =>
    (['soulUrge', 'personality'] as const).flatMap((number) => {
      const wanted: LetterChoice = number === 'soulUrge' ? isVowel : (letter) => !isVowel(letter);
      const words = counted.map(({ spelling }) => total(spelling.filter(wanted))).filter((sum) => sum > 0);
      const [only = 0] = words;
      const sum = words.length === 1 ? only : words.reduce((whole, each) => whole + lastOf(each), 0);
      if (!differs(composer, number, sum)) return [];
      const values = { number: plain(`frames/terms ${number}`), other: indebtedFigure(sum).display };
      return [say(`frames/method others.${key}`, { ...values, own: result.numbers[number].display })];
    });
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

const otherYear = (composer: Composer): Inline[][] => {
  const { now, asOf, subject } = composer.result;
  if (isBeyond(composer.result) || asOf.slice(5) >= subject.dateOfBirth.slice(5)) return [];
  const before = now.personalYear === 1 ? ROUND : now.personalYear - 1;
  const values = { other: String(before), own: String(now.personalYear) };
  return [composer.say('frames/method others.birthdayYear', values)];
};

const lastTo22 = (sum: number): number => (lastOf(sum) === 33 ? root(sum) : lastOf(sum));

/** Books that stop at 22 reduce a 33 to 6, in a word of the name as in a number, and so end elsewhere. */
const otherMasters = (composer: Composer): Inline[][] => {
  const { result, say, plain, list: join } = composer;
  const { numbers, cycles } = result;
  const shown = ({ value, display }: Figure): string => (value === 33 ? String(root(value)) : display);
  const words = countedWords(result);
  const ofName = NAME_NUMBERS.flatMap((key) => {
    const sums = words.map(({ spelling }) => total(spelling.filter(ROLES[key]))).filter((sum) => sum > 0);
    const [only = 0] = sums;
    const sum = sums.length === 1 ? only : sums.reduce((whole, each) => whole + lastTo22(each), 0);
    return sum === 0 ? [] : [{ key, sum }];
  });
  const maturity = lastTo22(numbers.lifePath.value) + lastTo22(ofName[0]?.sum ?? 0);
  const changed = [
    { key: 'lifePath' as const, other: shown(numbers.lifePath) },
    ...ofName.map(({ key, sum }) => ({ key, other: shown(indebtedFigure(sum)) })),
    { key: 'active' as const, other: shown(numbers.active) },
    { key: 'heredity' as const, other: shown(numbers.heredity) },
    { key: 'maturity' as const, other: shown(figure(maturity)) },
  ].filter(({ key, other }) => other !== numbers[key].display);
  const [first = 0, second = 0] = cycles.pinnacles.map(({ value }) => lastTo22(value));
  const pinnacles = cycles.pinnacles.flatMap((stage) => {
    const other = shown(stage.index === 3 ? figure(first + second) : stage);
    return other === stage.display ? [] : [`${plain('frames/terms pinnacle')} ${stage.index} (${other})`];
  });
  const told = [
    ...changed.map(({ key, other }) => `${plain(`frames/terms ${key}`)} (${other})`),
    ...pinnacles,
  ];
  return told.length === 0 ? [] : [say('frames/method others.no33', { numbers: join(told) })];
};

/** What another usual method makes of this person, where it makes something else. */
export const otherMethods = (composer: Composer): Section => {
  const { say, plain } = composer;
  const found = [
    ...otherPaths(composer),
    ...otherSums(composer),
    ...otherYs(composer),
    ...otherMasters(composer),
    ...otherPeriods(composer),
    ...otherYear(composer),
  ];
  return section('method.others', 'subsection', plain('frames/method othersTitle'), [
    paragraph(
      'method.others.intro',
      say(`frames/method ${found.length === 0 ? 'othersNone' : 'othersIntro'}`),
    ),
    ...(found.length === 0 ? [] : [list('method.others.list', found)]),
  ]);
};
