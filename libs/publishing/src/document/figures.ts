import {
  DIGITS,
  personalYear,
  PLANE_LETTERS,
  type PlaneName,
  type Planes,
  readDate,
  type Stage,
} from '#numerology/index.js';
import type { Composer } from './composer.js';
import type { Figure, FigureData, FigureKind, Table } from './document.js';
import { table } from './nodes.js';
import { countedWords, lettered } from './sections/spelling.js';

interface Drawn<Kind extends FigureKind> {
  readonly id: string;
  readonly kind: Kind;
  readonly data: FigureData[Kind];
  readonly caption: string;
  readonly alt: string;
  /** Terms that head the columns of the table that stands in for the drawing. */
  readonly head: readonly string[];
  readonly align: NonNullable<Table['align']>;
  readonly rows: readonly (readonly string[])[];
}

const figure = <Kind extends FigureKind>({ plain }: Composer, drawn: Drawn<Kind>): Figure => {
  const { id, kind, data, caption, alt, head, align, rows } = drawn;
  const terms = head.map((term) => plain(`frames/terms ${term}`));
  const fallback = [table(`${id}.table`, align, terms, rows)];
  return { type: 'figure', id, kind, data, caption: plain(caption), alt, fallback } as unknown as Figure;
};

/** Nine sectors, one per root. Their length is the weight of the root in the reading, not the number itself. */
export const numberWheel = (composer: Composer): Figure => {
  const { result, plain, list, amount } = composer;
  const { weights, dominant, absent } = result.synthesis;
  const frame = absent.length === 0 ? 'wheelAltComplete' : 'wheelAlt';
  return figure(composer, {
    id: 'overview.wheel',
    kind: 'numberWheel',
    data: { weights, dominant },
    caption: 'frames/overview wheelCaption',
    alt: plain(`frames/overview ${frame}`, {
      dominant: list(dominant.map(String)),
      absent: list(absent.map(String)),
    }),
    head: ['number', 'weight'],
    align: ['center', 'right'],
    rows: DIGITS.map((digit) => [String(digit), amount(weights[digit])]),
  });
};

/** The number of letters of each value in the name, as a grid of three by three. */
export const inclusionGrid = (composer: Composer): Figure => {
  const { result, plain, list } = composer;
  const { counts, lessons, hiddenPassion } = result.grid;
  const values = { passion: list(hiddenPassion.map(String)), lessons: list(lessons.map(String)) };
  return figure(composer, {
    id: 'grid.figure',
    kind: 'inclusionGrid',
    data: { counts, lessons, passion: hiddenPassion },
    caption: 'frames/grid figureCaption',
    alt: plain(`frames/grid ${lessons.length === 0 ? 'figureAltComplete' : 'figureAlt'}`, values),
    head: ['number', 'letters'],
    align: ['center', 'right'],
    rows: DIGITS.map((digit) => [String(digit), String(counts[digit])]),
  });
};

/** Every letter of the name above its value, with vowels and consonants marked. */
export const letterStrip = (composer: Composer): Figure => {
  const { result, plain } = composer;
  const words = countedWords(result).map(({ spelling }) => spelling);
  const ofRole = (word: (typeof words)[number], vowel: boolean): string =>
    word
      .filter((entry) => entry.vowel === vowel)
      .map(lettered)
      .join(', ') || '–';
  return figure(composer, {
    id: 'name.letters',
    kind: 'letterStrip',
    data: { words },
    caption: 'frames/name stripCaption',
    alt: plain('frames/name stripAlt', {
      letters: words.map((word) => word.map(lettered).join(', ')).join(' / '),
    }),
    head: ['word', 'vowels', 'consonants'],
    align: ['left', 'left', 'left'],
    rows: words.map((word) => [
      word.map(({ letter }) => letter).join(''),
      ofRole(word, true),
      ofRole(word, false),
    ]),
  });
};

const current = (stages: readonly Stage[]): string => stages.find((stage) => stage.current)?.display ?? '–';

/** The three periods and the four pinnacles on an axis of calendar years, with the year of the reading marked. */
export const lifeTimeline = (composer: Composer): Figure => {
  const { result, plain } = composer;
  const { periods, pinnacles } = result.cycles;
  const rows = [
    { label: plain('frames/terms periods'), one: plain('frames/terms period'), stages: periods },
    { label: plain('frames/terms pinnacles'), one: plain('frames/terms pinnacle'), stages: pinnacles },
  ];
  const years = ({ fromYear, toYear }: Stage): string =>
    toYear === null
      ? plain('frames/terms onward', { year: String(fromYear) })
      : plain('frames/terms span', { from: String(fromYear), to: String(toYear) });
  return figure(composer, {
    id: 'cycles.timeline',
    kind: 'lifeTimeline',
    data: {
      birthYear: Number(result.subject.dateOfBirth.slice(0, 4)),
      asOfYear: result.now.year,
      rows: rows.map(({ label, stages }) => ({
        label,
        spans: stages.map(({ display, fromYear, toYear }) => ({
          value: display,
          from: fromYear,
          to: toYear,
        })),
      })),
    },
    caption: 'frames/cycles timelineCaption',
    alt: plain('frames/cycles timelineAlt', { period: current(periods), pinnacle: current(pinnacles) }),
    head: ['position', 'number', 'years'],
    align: ['left', 'center', 'left'],
    rows: rows.flatMap(({ one, stages }) =>
      stages.map((stage) => [`${one} ${stage.index}`, stage.display, years(stage)]),
    ),
  });
};

const PAST_YEARS = 5;
const YEARS_SHOWN = 9;

/** Nine personal years around the year of the reading: the five before it, or as many as the person has lived, and on. */
export const nineYearCycle = (composer: Composer): Figure => {
  const { result, plain } = composer;
  const birth = readDate(result.subject.dateOfBirth);
  if (!birth) throw new Error('The result carries a date of birth that is not a date');
  const { year: now } = result.now;
  const first = Math.max(now - PAST_YEARS, birth.year);
  const years = Array.from({ length: YEARS_SHOWN }, (_, index) => {
    const year = first + index;
    return { year, value: personalYear(birth, year), current: year === now };
  });
  return figure(composer, {
    id: 'year.strip',
    kind: 'nineYearCycle',
    data: { years },
    caption: 'frames/year stripCaption',
    alt: plain('frames/year stripAlt', {
      from: String(first),
      to: String(first + YEARS_SHOWN - 1),
      year: String(now),
      number: String(result.now.personalYear),
    }),
    head: ['years', 'personalYear'],
    align: ['left', 'center'],
    rows: years.map(({ year, value }) => [String(year), String(value)]),
  });
};

/** In the order of the figure. */
export const PLANES = Object.keys(PLANE_LETTERS) as readonly PlaneName[];

/** The planes with the most letters, in the figure's order; at least one. */
export const strongestPlanes = (planes: Planes): readonly [PlaneName, ...PlaneName[]] => {
  const most = Math.max(...PLANES.map((plane) => planes[plane].count));
  const [first, ...others] = PLANES.filter((plane) => planes[plane].count === most);
  return [first ?? 'physical', ...others];
};

/** The number of letters on each of the four planes, one bar each. */
export const planeBars = (composer: Composer): Figure => {
  const { result, plain } = composer;
  const bars = PLANES.map((plane) => ({
    plane,
    label: plain(`frames/terms planes.${plane}`),
    count: result.planes[plane].count,
  }));
  const counts = Object.fromEntries(bars.map(({ plane, count }) => [plane, String(count)]));
  return figure(composer, {
    id: 'grid.planes.figure',
    kind: 'planeBars',
    data: { bars },
    caption: 'frames/grid planesCaption',
    alt: plain('frames/grid planesAlt', counts),
    head: ['position', 'letters'],
    align: ['left', 'right'],
    rows: bars.map(({ label, count }) => [label, String(count)]),
  });
};
