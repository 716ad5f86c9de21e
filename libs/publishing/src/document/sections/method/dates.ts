import { letterValue, root, type Stage } from '#numerology/index.js';
import type { Composer } from '../../composer.js';
import type { Block, Section } from '../../document.js';
import { isBeyond, monthsAhead } from '../../facts.js';
import { paragraph, section, table } from '../../nodes.js';
import { added, type CountedWord, countedWords, steps, subtracted, total } from './spelling.js';

export interface BirthParts {
  readonly year: number;
  readonly month: number;
  readonly day: number;
}

export const birthOf = ({ result }: Composer): BirthParts => {
  const [year = 0, month = 0, day = 0] = result.subject.dateOfBirth.split('-').map(Number);
  return { year, month, day };
};

/** Month, day and year, each reduced: what every number of the date is made from. */
export const dateParts = (composer: Composer): Section => {
  const { say, plain } = composer;
  const birth = birthOf(composer);
  return section('method.date', 'subsection', plain('frames/method dateTitle'), [
    paragraph('method.date.intro', say('frames/method dateIntro')),
    table(
      'method.date.table',
      ['left', 'left'],
      [plain('frames/method part'), plain('frames/terms reduction')],
      (['month', 'day', 'year'] as const).map((part) => [
        plain(`frames/method dateParts.${part}`),
        steps(birth[part]),
      ]),
    ),
  ]);
};

/** Where a stage begins: « 37 − 4 = 33 (2023) »; the first begins at birth. */
const startOf = (composer: Composer, stage: Stage, sum: string): string =>
  stage.fromAge === 0 ? composer.plain('frames/method birth') : `${sum} (${stage.fromYear})`;

/** The second period would begin at 36 for a Life Path of 1, and begins a round of nine years earlier. */
const PERIOD_SUM = 37;
const PINNACLE_SUM = 36;

const stageRows = (composer: Composer): string[][] => {
  const { result, plain } = composer;
  const { periods, pinnacles } = result.cycles;
  const { year, month, day } = birthOf(composer);
  const path = result.numbers.lifePath.root;
  const [m = 0, d = 0, y = 0] = periods.map(({ value }) => value);
  const numbers = [
    added([m, d]),
    added([d, y]),
    added([pinnacles[0]?.value ?? 0, pinnacles[1]?.value ?? 0]),
    added([m, y]),
  ];
  const later = (stages: readonly Stage[], index: number, apart: number): string =>
    `${stages[index - 1]?.fromAge ?? 0} + ${apart} = ${stages[index]?.fromAge ?? 0}`;
  const periodStarts = ['', path === 1 ? '27' : subtracted(PERIOD_SUM, path), later(periods, 2, 27)];
  const pinnacleStarts = ['', subtracted(PINNACLE_SUM, path), later(pinnacles, 2, 9), later(pinnacles, 3, 9)];
  return [
    ...periods.map((stage, at) => [
      `${plain('frames/terms period')} ${stage.index}`,
      startOf(composer, stage, periodStarts[at] ?? ''),
      steps([month, day, year][at] ?? 0),
    ]),
    ...pinnacles.map((stage, at) => [
      `${plain('frames/terms pinnacle')} ${stage.index}`,
      startOf(composer, stage, pinnacleStarts[at] ?? ''),
      numbers[at] ?? '',
    ]),
  ];
};

const challengeRows = (composer: Composer): string[][] => {
  const { plain } = composer;
  const birth = birthOf(composer);
  const [month, day, year] = [root(birth.month), root(birth.day), root(birth.year)];
  const apart = (one: number, other: number): string =>
    subtracted(Math.max(one, other), Math.min(one, other));
  const { first, second } = composer.result.cycles.challenges;
  return [
    [plain('frames/method challenges.first'), apart(month, day)],
    [plain('frames/method challenges.second'), apart(day, year)],
    [plain('frames/method challenges.main'), apart(first, second)],
    [plain('frames/method challenges.fourth'), apart(month, year)],
  ];
};

/** The ages and numbers of periods, pinnacles and challenges. */
export const cycleSums = (composer: Composer): Section => {
  const { say, plain } = composer;
  return section(
    'method.cycles',
    'subsection',
    plain('frames/method cyclesTitle'),
    [
      paragraph('method.cycles.intro', say('frames/method cyclesIntro')),
      table(
        'method.cycles.table',
        ['left', 'left', 'left'],
        [plain('frames/method stage'), plain('frames/method fromAge'), plain('frames/terms number')],
        stageRows(composer),
      ),
      paragraph('method.challenges.intro', say('frames/method challengesIntro')),
      table(
        'method.challenges.table',
        ['left', 'left'],
        [plain('frames/method challenge'), plain('frames/terms number')],
        challengeRows(composer),
      ),
    ],
    ['cycles'],
  );
};

const TRANSITS = ['physical', 'mental', 'spiritual'] as const;
type Transit = (typeof TRANSITS)[number];

/** « LAURENT (28), 36 − 28 = 8, R 9 »: the round of the names, the years into it, and the letter of that year. */
const transitCell = (composer: Composer, words: readonly CountedWord[], transit: Transit): string => {
  const { result } = composer;
  const letters = words.flatMap(({ spelling }) => spelling);
  const round = total(letters);
  const over = result.age - (result.age % round);
  const years = over === 0 ? String(result.age) : subtracted(result.age, over);
  const letter = result.now.transits[transit];
  const names = words.map((word) => word.letters).join(' + ');
  return `${names} (${round}), ${years}, ${letter}\u00A0${letterValue(letter)}`;
};

const yearRows = (composer: Composer): string[][] => {
  const { result, plain } = composer;
  const { now } = result;
  const birth = birthOf(composer);
  const personal = (year: number) => [
    `${plain('frames/terms personalYear')} ${year}`,
    added([root(birth.month), root(birth.day), root(year)], false),
  ];
  const words = countedWords(result);
  const ofGroup = (group: CountedWord['group']) => words.filter((word) => word.group === group);
  const middle = ofGroup('middle').length > 0 ? ofGroup('middle') : ofGroup('last');
  const letters = { physical: ofGroup('first'), mental: middle, spiritual: ofGroup('last') };
  return [
    [plain('frames/method calendarYear', { year: String(now.year) }), steps(now.year, false)],
    personal(now.year),
    [plain('frames/method calendarYear', { year: String(now.year + 1) }), steps(now.year + 1, false)],
    personal(now.year + 1),
    ...TRANSITS.map((transit) => [
      plain(`frames/method transits.${transit}`),
      transitCell(composer, letters[transit], transit),
    ]),
    [plain('frames/method essence'), added(TRANSITS.map((transit) => letterValue(now.transits[transit])))],
  ];
};

/** « November 2026: 4 + 11 = 15 → 6 » for each of the twelve months ahead. */
const monthRows = ({ result, month: nameOf }: Composer): string[][] =>
  monthsAhead(result).map(({ year, month, personalYear }) => [
    `${nameOf(month)} ${year}`,
    added([personalYear, month], false),
  ]);

/** The personal years, the essence and the months; none past the oldest age a year is written for. */
export const yearSums = (composer: Composer): Section[] => {
  const { result, say, plain } = composer;
  if (isBeyond(result)) return [];
  const rows = (id: string, part: string, of: string[][]): Block =>
    table(id, ['left', 'left'], [plain(`frames/method ${part}`), plain('frames/terms reduction')], of);
  const intro = say('frames/method yearIntro', { age: String(result.age) });
  return [
    section(
      'method.year',
      'subsection',
      plain('frames/method yearTitle', { year: String(result.now.year) }),
      [
        paragraph('method.year.intro', intro),
        rows('method.year.table', 'part', yearRows(composer)),
        paragraph('method.months.intro', say('frames/method monthsIntro')),
        rows('method.months.table', 'dateParts.month', monthRows(composer)),
      ],
    ),
  ];
};
