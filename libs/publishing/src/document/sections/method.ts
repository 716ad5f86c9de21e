import {
  chain,
  digitSum,
  type Figure,
  figure,
  indebtedFigure,
  root,
  DIGITS,
  letterValue,
  PLANE_LETTERS,
  POSITION_WEIGHTS,
  type Position,
  type Stage,
  yReasonsOf,
} from '#numerology/index.js';
import type { Composer } from '../composer.js';
import type { Inline, Block, Section, Table } from '../document.js';
import { isBeyond, monthsAhead, positionsOf } from '../facts.js';
import {
  added,
  birthOf,
  type CountedLetter,
  countedWords,
  steps,
  total,
  addedLetters,
  type CountedWord,
  lettered,
  subtracted,
} from './spelling.js';
import { PLANES } from '../figures.js';
import { list, section, table } from '../nodes.js';

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
const sumByWord = ({ result }: Composer, counts: LetterChoice, reduce: (sum: number) => number): number => {
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
    ...ofName(composer, frame, 'soulUrge', sumByWord(composer, isVowel, lastOf)),
    ...ofName(
      composer,
      frame,
      'personality',
      sumByWord(composer, (letter) => !isVowel(letter), lastOf),
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
  const named = NAME_NUMBERS.map((key) => ({ key, sum: sumByWord(composer, ROLES[key], lastTo22) }));
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

/** A table of sums; its head are frames. */
const sumsTable = ({ plain }: Composer, id: string, head: readonly string[], rows: string[][]): Table =>
  table(
    id,
    head.map(() => 'left' as const),
    head.map((frame) => plain(`frames/${frame}`)),
    rows,
  );

/** Nine columns, one for each value. */
const digitTable = (id: string, rows: string[][]): Table =>
  table(
    id,
    DIGITS.map(() => 'center' as const),
    DIGITS.map(String),
    rows,
  );

const ALPHABET = [...'ABCDEFGHIJKLMNOPQRSTUVWXYZ'];

/** Every letter below its value. */
const letterTable = ({ tell, part }: Composer): Section => {
  const rows = ['AI', 'JR', 'SZ'].map((row) => {
    const letters = ALPHABET.filter((letter) => letter >= row.charAt(0) && letter <= row.charAt(1));
    return DIGITS.map((digit) => letters.find((letter) => letterValue(letter) === digit) ?? '–');
  });
  return part('method.letters', 'frames/method lettersTitle', [
    tell('method.letters.intro', 'frames/method lettersIntro'),
    digitTable('method.letters.table', rows),
  ]);
};

/** Why each Y counts as it does; one line for each part of a word and reason, though the name may repeat the word. */
const yLines = ({ result, say }: Composer): Block => {
  const reasons = result.normalization.words.flatMap(({ source }) => yReasonsOf(source));
  const told = new Map(reasons.map((each) => [`${each.part} ${each.reason}`, each]));
  const lines = [...told.values()].map(({ part, reason }) =>
    say(`frames/method yReasons.${reason}`, { word: part }),
  );
  return list('method.words.y', lines.length === 0 ? [say('frames/method yNone')] : lines);
};

/** Each word of the name, letter by letter: all letters, then its vowels, then its consonants. */
const words = (composer: Composer): Section => {
  const { result, plain, tell, part, letterCount, list: join } = composer;
  const { letterCount: count, ignored = [] } = result.normalization;
  const setAside = { words: join(ignored.map(({ source }) => source)) };
  const rows = countedWords(result).flatMap(({ letters, spelling }) => [
    [letters, addedLetters(spelling)],
    [plain('frames/terms vowels'), addedLetters(spelling.filter(({ vowel }) => vowel))],
    [plain('frames/terms consonants'), addedLetters(spelling.filter(({ vowel }) => !vowel))],
  ]);
  return part(
    'method.words',
    'frames/method wordsTitle',
    [
      tell('method.words.intro', 'frames/method words', { count: letterCount(count) }),
      sumsTable(composer, 'method.words.table', ['terms word', 'terms reduction'], rows),
      yLines(composer),
      ...(ignored.length > 0 ? [tell('method.words.ignored', 'frames/method ignored', setAside)] : []),
    ],
    ['normalization'],
  );
};

/** Month, day and year, each reduced: what every number of the date is made from. */
const dateParts = (composer: Composer): Section => {
  const { plain, tell, part } = composer;
  const birth = birthOf(composer);
  const rows = (['month', 'day', 'year'] as const).map((each) => [
    plain(`frames/method dateParts.${each}`),
    steps(birth[each]),
  ]);
  return part('method.date', 'frames/method dateTitle', [
    tell('method.date.intro', 'frames/method dateIntro'),
    sumsTable(composer, 'method.date.table', ['method part', 'terms reduction'], rows),
  ]);
};

/** The sum of a number that is counted word by word: the reduced words, or the letters of the only one. */
const byWord = (parts: readonly { readonly sum: number; readonly value: number }[]): string => {
  const [only] = parts;
  if (!only) return '–';
  return parts.length === 1 ? steps(only.sum) : added(parts.map(({ value }) => value));
};

/** The addends and steps of each number. */
const sums = (composer: Composer): Readonly<Record<string, string>> => {
  const { numbers, grid } = composer.result;
  const { day } = birthOf(composer);
  const counted = countedWords(composer.result);
  const ofGroup = (group: CountedWord['group']): number[] =>
    counted.filter((word) => word.group === group).map(({ spelling }) => total(spelling));
  const initials = counted.flatMap(({ spelling }) => spelling.slice(0, 1));
  return {
    lifePath: added(numbers.lifePath.parts.map(({ value }) => value)),
    birthday: steps(day),
    expression: byWord(numbers.expression.parts),
    soulUrge: byWord(numbers.soulUrge.parts),
    personality: byWord(numbers.personality.parts),
    active: added(ofGroup('first')),
    heredity: added(ofGroup('last')),
    maturity: added([numbers.lifePath.value, numbers.expression.value]),
    balance: addedLetters(initials, false),
    rationalThought: added([total(counted[0]?.spelling ?? []), day], false),
    subconsciousSelf: subtracted(DIGITS.length, grid.lessons.length),
  };
};

/** Each number of the name and the date, from its addends to the number kept. */
const chains = (composer: Composer): Section => {
  const { plain, tell, part, all } = composer;
  const rows = Object.entries(sums(composer)).map(([key, sum]) => [plain(`frames/terms ${key}`), sum]);
  return part(
    'method.chains',
    'frames/method chainsTitle',
    [
      list('method.chains.uses', all('frames/method uses')),
      sumsTable(composer, 'method.chains.table', ['terms position', 'terms reduction'], rows),
      tell('method.chains.note', 'frames/method chainsNote', {}, 'note'),
    ],
    ['numbers'],
  );
};

/** What a master number and a karmic debt are, and which this person has. */
const mastersAndDebts = ({ result, plain, tell, part, list: join }: Composer): Section => {
  const { numbers, karmicDebts } = result;
  const named = (key: keyof typeof numbers): string =>
    `${plain(`frames/terms ${key}`)}\u00A0${numbers[key].display}`;
  const keys = Object.keys(numbers) as (keyof typeof numbers)[];
  const masters = keys.filter((key) => numbers[key].master).map(named);
  const debts = keys.filter((key) => karmicDebts.some(({ at }) => at === `numbers.${key}`)).map(named);
  const own = (what: 'masters' | 'debts', found: readonly string[]) =>
    tell(`method.${what}.own`, `frames/method ${what}${found.length === 0 ? 'None' : 'Own'}`, {
      numbers: join(found),
    });
  return part('method.masters', 'frames/method mastersTitle', [
    tell('method.masters.text', 'frames/method masters'),
    own('masters', masters),
    tell('method.debts.text', 'frames/method debts'),
    own('debts', debts),
  ]);
};

/** How many letters each cell of the grid and each plane holds. */
const gridSums = (composer: Composer): Section => {
  const { result, plain, tell, part } = composer;
  const rows = PLANES.map((plane) => [
    plain(`frames/terms planes.${plane}`),
    [...PLANE_LETTERS[plane]].join(' '),
    String(result.planes[plane].count),
  ]);
  const head = ['method plane', 'method planeLetters', 'method counted'];
  return part(
    'method.grid',
    'frames/method gridTitle',
    [
      tell('method.grid.intro', 'frames/method gridIntro'),
      digitTable('method.grid.table', [DIGITS.map((digit) => String(result.grid.counts[digit]))]),
      sumsTable(composer, 'method.planes.table', head, rows),
    ],
    ['grid', 'planes'],
  );
};

/** The second period would begin at 36 for a Life Path of 1, and begins a round of nine years earlier. */
const PERIOD_SUM = 37;
const PINNACLE_SUM = 36;

const stageRows = (composer: Composer): string[][] => {
  const { result, plain } = composer;
  const { periods, pinnacles } = result.cycles;
  const { year, month, day } = birthOf(composer);
  const path = result.numbers.lifePath.root;
  const [m = 0, d = 0, y = 0] = periods.map(({ value }) => value);
  const [first = 0, second = 0] = pinnacles.map(({ value }) => value);
  const later = (stages: readonly Stage[], index: number, apart: number): string =>
    `${stages[index - 1]?.fromAge ?? 0} + ${apart} = ${stages[index]?.fromAge ?? 0}`;
  const ofPeriods = {
    starts: ['', path === 1 ? '27' : subtracted(PERIOD_SUM, path), later(periods, 2, 27)],
    numbers: [month, day, year].map((each) => steps(each)),
  };
  const ofPinnacles = {
    starts: ['', subtracted(PINNACLE_SUM, path), later(pinnacles, 2, 9), later(pinnacles, 3, 9)],
    numbers: [added([m, d]), added([d, y]), added([first, second]), added([m, y])],
  };
  const rows = (term: string, stages: readonly Stage[], { starts, numbers }: typeof ofPeriods) =>
    stages.map((stage, at) => [
      `${plain(`frames/terms ${term}`)} ${stage.index}`,
      // « 37 − 4 = 33 (2023) »; the first begins at birth.
      stage.fromAge === 0 ? plain('frames/method birth') : `${starts[at]} (${stage.fromYear})`,
      numbers[at] ?? '',
    ]);
  return [...rows('period', periods, ofPeriods), ...rows('pinnacle', pinnacles, ofPinnacles)];
};

const challengeRows = (composer: Composer): string[][] => {
  const birth = birthOf(composer);
  const [month, day, year] = [root(birth.month), root(birth.day), root(birth.year)];
  const { first, second } = composer.result.cycles.challenges;
  const row = (name: string, one: number, other: number): string[] => [
    composer.plain(`frames/method challenges.${name}`),
    subtracted(Math.max(one, other), Math.min(one, other)),
  ];
  return [
    row('first', month, day),
    row('second', day, year),
    row('main', first, second),
    row('fourth', month, year),
  ];
};

/** The ages and numbers of periods, pinnacles and challenges. */
const cycleSums = (composer: Composer): Section => {
  const { tell, part } = composer;
  const head = ['method stage', 'method fromAge', 'terms number'];
  const challenges = challengeRows(composer);
  return part(
    'method.cycles',
    'frames/method cyclesTitle',
    [
      tell('method.cycles.intro', 'frames/method cyclesIntro'),
      sumsTable(composer, 'method.cycles.table', head, stageRows(composer)),
      tell('method.challenges.intro', 'frames/method challengesIntro'),
      sumsTable(composer, 'method.challenges.table', ['method challenge', 'terms number'], challenges),
    ],
    ['cycles'],
  );
};

const TRANSITS = ['physical', 'mental', 'spiritual'] as const;

const yearRows = (composer: Composer): string[][] => {
  const { result, plain } = composer;
  const { now, age } = result;
  const birth = birthOf(composer);
  const years = [now.year, now.year + 1].flatMap((year) => [
    [plain('frames/method calendarYear', { year: String(year) }), steps(year, false)],
    [
      `${plain('frames/terms personalYear')} ${year}`,
      added([root(birth.month), root(birth.day), root(year)], false),
    ],
  ]);
  const counted = countedWords(result);
  const ofGroup = (group: CountedWord['group']) => counted.filter((word) => word.group === group);
  const middle = ofGroup('middle').length > 0 ? ofGroup('middle') : ofGroup('last');
  const names = { physical: ofGroup('first'), mental: middle, spiritual: ofGroup('last') };
  // « LAURENT (28), 36 − 28 = 8, R 9 »: the round of the names, the years into it, and the letter of that year.
  const transit = (each: (typeof TRANSITS)[number]): string => {
    const round = total(names[each].flatMap(({ spelling }) => spelling));
    const over = age - (age % round);
    const into = over === 0 ? String(age) : subtracted(age, over);
    const letter = now.transits[each];
    const joined = names[each].map(({ letters }) => letters).join(' + ');
    return `${joined} (${round}), ${into}, ${lettered({ letter, value: letterValue(letter) })}`;
  };
  return [
    ...years,
    ...TRANSITS.map((each) => [plain(`frames/method transits.${each}`), transit(each)]),
    [plain('frames/method essence'), added(TRANSITS.map((each) => letterValue(now.transits[each])))],
  ];
};

/** The personal years, the essence and the months; none past the oldest age a year is written for. */
const yearSums = (composer: Composer): Section[] => {
  const { result, plain, tell, part, month: nameOf } = composer;
  if (isBeyond(result)) return [];
  // « November 2026: 4 + 11 = 15 → 6 »
  const months = monthsAhead(result).map(({ year, month, personalYear }) => [
    `${nameOf(month)} ${year}`,
    added([personalYear, month], false),
  ]);
  const heads = {
    year: ['method part', 'terms reduction'],
    months: ['method dateParts.month', 'terms reduction'],
  };
  const title = plain('frames/method yearTitle', { year: String(result.now.year) });
  return [
    part('method.year', { title }, [
      tell('method.year.intro', 'frames/method yearIntro', { age: String(result.age) }),
      sumsTable(composer, 'method.year.table', heads.year, yearRows(composer)),
      tell('method.months.intro', 'frames/method monthsIntro'),
      sumsTable(composer, 'method.months.table', heads.months, months),
    ]),
  ];
};

const PASSION_WEIGHT = 1;

/** Which number leads, and by which positions. */
const weightSums = (composer: Composer): Section => {
  const { result, plain, tell, part, amount } = composer;
  const addend = (position: string): string =>
    position === 'passion'
      ? `${plain('frames/method passion')}\u00A0${amount(PASSION_WEIGHT)}`
      : `${plain(`frames/terms ${position}`)}\u00A0${amount(POSITION_WEIGHTS[position as Position])}`;
  const rows = DIGITS.flatMap((digit) => {
    const addends = positionsOf(result, digit).map(addend);
    if (addends.length === 0) return [];
    const sum = addends.length === 1 ? '' : ` = ${amount(result.synthesis.weights[digit])}`;
    return [[String(digit), `${addends.join(' + ')}${sum}`]];
  });
  return part(
    'method.weights',
    'frames/method weightsTitle',
    [
      tell('method.weights.intro', 'frames/method weightsIntro'),
      sumsTable(composer, 'method.weights.table', ['terms number', 'terms weight'], rows),
    ],
    ['synthesis.weights'],
  );
};

/** What another usual method makes of this person, where it makes something else. */
const others = (composer: Composer): Section => {
  const { tell, part } = composer;
  const found: Inline[][] = otherMethods(composer);
  return part('method.others', 'frames/method othersTitle', [
    tell('method.others.intro', `frames/method ${found.length === 0 ? 'othersNone' : 'othersIntro'}`),
    ...(found.length === 0 ? [] : [list('method.others.list', found)]),
  ]);
};

/** The annex: with this page alone a reader can redo every number of the reading by hand. */
export const method = (composer: Composer): Section => {
  const { result, plain, tell, all, date } = composer;
  const versions = {
    date: date(result.asOf),
    method: result.method.id,
    engine: result.engineVersion,
    content: result.contentVersion,
  };
  // To a single digit, as the sentence says: a year of 22, such as 1984, would otherwise stop there.
  const example = { steps: steps(birthOf(composer).year, false) };
  const children = [
    tell('method.intro', 'frames/method intro', { method: result.method.id }),
    tell('method.reduction', 'frames/method reduction', example),
    list('method.conventions', all('frames/method conventions')),
    letterTable(composer),
    words(composer),
    dateParts(composer),
    chains(composer),
    mastersAndDebts(composer),
    gridSums(composer),
    cycleSums(composer),
    ...yearSums(composer),
    weightSums(composer),
    others(composer),
    tell('method.as-of', 'frames/method asOf', versions, 'note'),
  ];
  return section('method', 'method', plain('frames/method title'), children, ['method']);
};
