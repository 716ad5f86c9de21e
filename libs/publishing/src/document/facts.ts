import {
  DIGITS,
  type Position,
  POSITION_WEIGHTS,
  type ReadingResult,
  root,
  type Stage,
} from '#numerology/index.js';

/** Facts that choose texts, derived from a result. */

/** Completed years below which a reading speaks to the parents. */
const READER_AGE = 7;
export const isForParents = ({ age }: ReadingResult): boolean => age < READER_AGE;

/** Completed years below which scenes of work become scenes of school. */
const ADULT_SCENES_AGE = 16;
export const isYoung = ({ age }: ReadingResult): boolean => age < ADULT_SCENES_AGE;

/** Completed years above which a reading omits "this year". */
const OLDEST_CURRENT_AGE = 110;
export const isBeyond = ({ age }: ReadingResult): boolean => age > OLDEST_CURRENT_AGE;

/** From this age on, the Maturity number is there; before, it announces itself. */
const MATURE_AGE = 45;
export const isMature = ({ age }: ReadingResult): boolean => age >= MATURE_AGE;

const POSITIONS = Object.keys(POSITION_WEIGHTS) as readonly Position[];

/** What a text names with its article, for which the terms have an entry `positions.<term>`. */
export type PositionTerm = Position | 'active' | 'heredity' | 'passion' | 'lesson' | 'debt' | 'leading';

/** Every number of the person that has a line of its own, heaviest first. */
const HOLDERS = [...POSITIONS, 'active', 'heredity'] as const;

/** The root that the synthesis centres on: the dominant one; on a tie, the one with the heaviest position. */
export const leadingRoot = ({ numbers, synthesis }: ReadingResult): number => {
  const { dominant } = synthesis;
  const held = POSITIONS.map((position) => numbers[position].root);
  const leading = held.find((root) => dominant.some((digit) => digit === root)) ?? dominant[0];
  if (leading === undefined || leading === null) throw new Error('The result has no dominant number');
  return leading;
};

/** The weighted positions that have a root, heaviest first, then the hidden passion if it has it too. */
export const positionsOf = ({ numbers, grid }: ReadingResult, root: number): PositionTerm[] => [
  ...POSITIONS.filter((position) => numbers[position].root === root),
  ...(grid.hiddenPassion.some((digit) => digit === root) ? (['passion'] as const) : []),
];

/** The heaviest position that has a root, among all numbers of the person. */
export const holderOf = ({ numbers }: ReadingResult, root: number): PositionTerm | undefined =>
  HOLDERS.find((position) => numbers[position].root === root);

/** How far the leading number outweighs the rest. The bounds divide readers into thirds. */
export const strengthOf = (result: ReadingResult): 'quiet' | 'clear' | 'strong' => {
  // On a tie it leads by its position alone.
  if (result.synthesis.dominant.length > 1) return 'quiet';
  const weight = result.synthesis.weights[result.synthesis.dominant[0]!];
  return weight < 5 ? 'quiet' : weight < 6.5 ? 'clear' : 'strong';
};

/** Whether a value without a letter is supplied elsewhere, or even leads. */
export const lessonSituation = (result: ReadingResult, digit: number): 'plain' | 'core' | 'dominant' => {
  if (leadingRoot(result) === digit) return 'dominant';
  return holderOf(result, digit) ? 'core' : 'plain';
};

/** The missing value that a position supplies, which the synthesis tells as a resource. */
export const resourceOf = ({ synthesis }: ReadingResult): number | undefined => {
  const thread = synthesis.threads.find((each) => each.startsWith('lesson-in-core:'));
  return thread === undefined ? undefined : Number(thread.split(':')[1]);
};

/** The karmic debt that a reading tells in full, the weightiest; another one gets what it does at its position. */
export const fullDebt = ({ karmicDebts }: ReadingResult): number | undefined => karmicDebts[0]?.debt;

/** The roots that appear nowhere: in no number, no letter, no cycle. */
export const absentRoots = ({ numbers, grid, cycles, now }: ReadingResult): number[] => {
  const figures: readonly { readonly root: number | null }[] = [
    ...Object.values<{ readonly root: number | null }>({ ...numbers }),
    ...cycles.periods,
    ...cycles.pinnacles,
  ];
  const { first, second, main, fourth } = cycles.challenges;
  const shown = new Set<number | null>([
    ...figures.map(({ root }) => root),
    ...[first, second, main, fourth, now.personalYear, now.nextPersonalYear, now.essence.value],
  ]);
  return DIGITS.filter((digit) => grid.counts[digit] === 0 && !shown.has(digit));
};

const SITUATIONS = ['dominant', 'core', 'plain'];

/**
 * The missing value that the grid tells in full, the weightiest; the others get a line each. One that appears nowhere
 * comes last, since the synthesis tells it.
 */
export const fullLesson = (result: ReadingResult): number | undefined => {
  const absent = absentRoots(result);
  const rank = (digit: number): number =>
    absent.includes(digit) ? SITUATIONS.length : SITUATIONS.indexOf(lessonSituation(result, digit));
  const [weightiest] = result.grid.lessons
    .filter((digit) => digit !== resourceOf(result))
    .toSorted((one, other) => rank(one) - rank(other));
  return weightiest;
};

/** The root that appears nowhere and is told in full, unless the grid has done so; the others get a line each. */
export const fullAbsent = (result: ReadingResult): number | undefined =>
  absentRoots(result).find((digit) => digit !== fullLesson(result));

const currentOf = (stages: readonly Stage[]): Stage => {
  const stage = stages.find(({ current }) => current);
  if (!stage) throw new Error('The result has no current stage');
  return stage;
};

export const currentPeriod = ({ cycles }: ReadingResult): Stage => currentOf(cycles.periods);

/** The current pinnacle. There always is one, since the last has no end. */
export const currentPinnacle = ({ cycles }: ReadingResult): Stage => currentOf(cycles.pinnacles);

export const PERIOD_STAGES = ['first', 'second', 'third'] as const;

/** The stage of life by the current period. */
export const stageOfLife = (result: ReadingResult): (typeof PERIOD_STAGES)[number] =>
  PERIOD_STAGES[currentPeriod(result).index - 1] ?? 'third';

/** A calendar month, within the personal year it belongs to. */
export interface MonthAhead {
  readonly year: number;
  /** 1–12 */
  readonly month: number;
  readonly personalYear: number;
  /** The personal month, root(personal year + calendar month). */
  readonly number: number;
}

const MONTHS_OF_A_YEAR = 12;

/** The twelve calendar months from that of the reading on. From January they belong to the next personal year. */
export const monthsAhead = ({ asOf, now }: ReadingResult): MonthAhead[] => {
  const first = Number(asOf.split('-')[1]);
  return Array.from({ length: MONTHS_OF_A_YEAR }, (_, at) => {
    const month = ((first - 1 + at) % MONTHS_OF_A_YEAR) + 1;
    const isNext = month < first;
    const personalYear = isNext ? now.nextPersonalYear : now.personalYear;
    return { year: now.year + Number(isNext), month, personalYear, number: root(personalYear + month) };
  });
};
