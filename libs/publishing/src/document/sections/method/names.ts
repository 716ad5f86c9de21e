import {
  DIGITS,
  letterValue,
  PLANE_LETTERS,
  POSITION_WEIGHTS,
  type Position,
  yReasonsOf,
} from '#numerology/index.js';
import { PLANES } from '../../../figures/plane-bars.js';
import type { Composer } from '../../composer.js';
import type { Block, Section } from '../../document.js';
import { positionsOf } from '../../facts.js';
import { list, paragraph, section, table } from '../../nodes.js';
import { birthOf } from './dates.js';
import { added, addedLetters, type CountedWord, countedWords, steps, subtracted, total } from './spelling.js';

const ALPHABET = [...'ABCDEFGHIJKLMNOPQRSTUVWXYZ'];

/** Every letter below its value. */
export const letterTable = ({ say, plain }: Composer): Section =>
  section('method.letters', 'subsection', plain('frames/method lettersTitle'), [
    paragraph('method.letters.intro', say('frames/method lettersIntro')),
    table(
      'method.letters.table',
      DIGITS.map(() => 'center' as const),
      DIGITS.map(String),
      ['AI', 'JR', 'SZ'].map((row) => {
        const letters = ALPHABET.filter((letter) => letter >= (row[0] ?? '') && letter <= (row[1] ?? ''));
        return DIGITS.map((digit) => letters.find((letter) => letterValue(letter) === digit) ?? '–');
      }),
    ),
  ]);

/** All letters of a word, then its vowels, then its consonants. */
const wordRows = ({ plain }: Composer, { letters, spelling }: CountedWord): string[][] => [
  [letters, addedLetters(spelling)],
  [plain('frames/terms vowels'), addedLetters(spelling.filter(({ vowel }) => vowel))],
  [plain('frames/terms consonants'), addedLetters(spelling.filter(({ vowel }) => !vowel))],
];

/** Why each Y counts as it does; one line for each part of a word and reason, though the name may repeat the word. */
const yLines = ({ result, say }: Composer): Block => {
  const reasons = result.normalization.words.flatMap(({ source }) => yReasonsOf(source));
  const told = new Map(reasons.map((each) => [`${each.part} ${each.reason}`, each]));
  const lines = [...told.values()].map(({ part, reason }) =>
    say(`frames/method yReasons.${reason}`, { word: part }),
  );
  return lines.length === 0
    ? paragraph('method.words.y', say('frames/method yNone'))
    : list('method.words.y', lines);
};

/** Each word of the name, letter by letter. */
export const words = (composer: Composer): Section => {
  const { result, say, plain, letterCount, list: join } = composer;
  const { letterCount: count, ignored = [] } = result.normalization;
  const setAside = join(ignored.map(({ source }) => source));
  return section(
    'method.words',
    'subsection',
    plain('frames/method wordsTitle'),
    [
      paragraph('method.words.intro', say('frames/method words', { count: letterCount(count) })),
      table(
        'method.words.table',
        ['left', 'left'],
        [plain('frames/terms word'), plain('frames/terms reduction')],
        countedWords(result).flatMap((word) => wordRows(composer, word)),
      ),
      yLines(composer),
      ...(ignored.length > 0
        ? [paragraph('method.words.ignored', say('frames/method ignored', { words: setAside }))]
        : []),
    ],
    ['normalization'],
  );
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
  const [first] = counted;
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
    rationalThought: added([total(first?.spelling ?? []), day], false),
    subconsciousSelf: subtracted(DIGITS.length, grid.lessons.length),
  };
};

/** Each number of the name and the date, from its addends to the number kept. */
export const chains = (composer: Composer): Section => {
  const { say, plain, all } = composer;
  const rows = Object.entries(sums(composer));
  return section(
    'method.chains',
    'subsection',
    plain('frames/method chainsTitle'),
    [
      list('method.chains.uses', all('frames/method uses')),
      table(
        'method.chains.table',
        ['left', 'left'],
        [plain('frames/terms position'), plain('frames/terms reduction')],
        rows.map(([key, sum]) => [plain(`frames/terms ${key}`), sum]),
      ),
      paragraph('method.chains.note', say('frames/method chainsNote'), 'note'),
    ],
    ['numbers'],
  );
};

/** How many letters each cell of the grid and each plane holds. */
export const gridSums = ({ result, say, plain }: Composer): Section =>
  section(
    'method.grid',
    'subsection',
    plain('frames/method gridTitle'),
    [
      paragraph('method.grid.intro', say('frames/method gridIntro')),
      table(
        'method.grid.table',
        DIGITS.map(() => 'center' as const),
        DIGITS.map(String),
        [DIGITS.map((digit) => String(result.grid.counts[digit]))],
      ),
      table(
        'method.planes.table',
        ['left', 'left', 'left'],
        [plain('frames/method plane'), plain('frames/method planeLetters'), plain('frames/method counted')],
        PLANES.map((plane) => [
          plain(`frames/terms planes.${plane}`),
          [...PLANE_LETTERS[plane]].join(' '),
          String(result.planes[plane].count),
        ]),
      ),
    ],
    ['grid', 'planes'],
  );

const PASSION_WEIGHT = 1;

/** Which number leads, and by which positions. */
export const weightSums = ({ result, say, plain, amount }: Composer): Section => {
  const weightOf = (position: string): number =>
    position === 'passion' ? PASSION_WEIGHT : POSITION_WEIGHTS[position as Position];
  const nameOf = (position: string): string =>
    position === 'passion' ? plain('frames/method passion') : plain(`frames/terms ${position}`);
  const rows = DIGITS.flatMap((digit) => {
    const held = positionsOf(result, digit);
    const sum = amount(result.synthesis.weights[digit]);
    const addends = held.map((position) => `${nameOf(position)}\u00A0${amount(weightOf(position))}`);
    if (held.length === 0) return [];
    return [[String(digit), held.length === 1 ? addends.join('') : `${addends.join(' + ')} = ${sum}`]];
  });
  return section(
    'method.weights',
    'subsection',
    plain('frames/method weightsTitle'),
    [
      paragraph('method.weights.intro', say('frames/method weightsIntro')),
      table(
        'method.weights.table',
        ['left', 'left'],
        [plain('frames/terms number'), plain('frames/terms weight')],
        rows,
      ),
    ],
    ['synthesis.weights'],
  );
};
