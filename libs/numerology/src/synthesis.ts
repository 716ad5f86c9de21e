import { type Digit, DIGITS } from './arithmetic.js';
import type { Stage } from './cycles.js';
import type { Bridges, Grid, Numbers } from './numbers.js';

/** How two roots relate: an `ally` pulls the same way, a `complement` adds what the other lacks, `friction` opposes. */
export type Relation = 'same' | 'ally' | 'complement' | 'friction';

/**
 * The hand-written table of unordered pairs, the smaller root first. The traditional concords 1-5-7, 2-4-8 and 3-6-9 are
 * allies. The others follow from what the two numbers mean: 3 plays where 4 builds (friction), 1 begins where 2 joins
 * (complement).
 */
const PAIRS: readonly (readonly [Relation, string])[] = [
  ['ally', '15 17 24 26 28 35 36 39 46 48 57 69'],
  ['complement', '12 13 19 23 27 29 38 47 59 68 79 89'],
  ['friction', '14 16 18 25 34 37 45 49 56 58 67 78'],
];

/** The relation of two roots 1–9, in either order. Throws a RangeError for other numbers. */
export function relationOf(a: number, b: number): Relation {
  const isRoot = (n: number): boolean => DIGITS.some((digit) => digit === n);
  if (a === b && isRoot(a)) return 'same';
  const pair = `${Math.min(a, b)}${Math.max(a, b)}`;
  const found = isRoot(a) && isRoot(b) && PAIRS.find(([, pairs]) => pairs.split(' ').includes(pair));
  if (!found) throw new RangeError('a relation needs two roots from 1 to 9');
  return found[0];
}

/** The weight of each root in the theme, a multiple of 0.5. */
export type Weights = Readonly<Record<Digit, number>>;

/** The weighted positions, heaviest first. A master counts as its root. */
export const POSITION_WEIGHTS = {
  lifePath: 4,
  expression: 3,
  soulUrge: 2.5,
  personality: 1.5,
  birthday: 1.5,
  maturity: 1,
} as const;

export type Position = keyof typeof POSITION_WEIGHTS;
export const POSITIONS = Object.keys(POSITION_WEIGHTS) as readonly Position[];

/** Weight of each hidden passion. */
export const HIDDEN_PASSION_WEIGHT = 1;

export type WeighedNumbers = Pick<Numbers, Position>;

/** Sum of the weights of each root's positions and hidden passions. */
export function weights(numbers: WeighedNumbers, grid: Pick<Grid, 'hiddenPassion'>): Weights {
  const sums: Record<Digit, number> = { 1: 0, 2: 0, 3: 0, 4: 0, 5: 0, 6: 0, 7: 0, 8: 0, 9: 0 };
  for (const position of POSITIONS) {
    const held = numbers[position].root;
    if (held !== null) sums[held as Digit] += POSITION_WEIGHTS[position];
  }
  for (const digit of grid.hiddenPassion) sums[digit] += HIDDEN_PASSION_WEIGHT;
  return sums;
}

/** The roots with the highest weight, ascending; more than one on a tie. */
export function dominant(all: Weights): Digit[] {
  const highest = Math.max(...Object.values(all));
  return DIGITS.filter((digit) => all[digit] === highest);
}

/** The roots without any position, ascending. */
export const absent = (all: Weights): Digit[] => DIGITS.filter((digit) => all[digit] === 0);

/**
 * A topic of the synthesis, as a stable id:
 * - `echo:<root>`: a root in three or more of the six weighted positions; if there is none,
 *   `dominant:<root>`: the heaviest root, on a tie the one in the heaviest position;
 * - `tension:<pair>:<bridge>`: the pair in friction with the wider bridge; if there is none, the widest bridge;
 * - `lesson-in-core:<lesson>`: the resource, a missing letter value that a core number supplies;
 * - `threshold:<kind>-<index>:<age>`: the stage that begins at that age, near the day of the reading;
 * - `rare:<what>`: a rare trait.
 */
export type Thread =
  | `echo:${number}`
  | `dominant:${number}`
  | `tension:${TensionPair}:${number}`
  | `lesson-in-core:${number}`
  | `threshold:${'pinnacle' | 'period'}-${number}:${number}`
  | `rare:${'33' | 'five-lessons' | 'no-vowel' | 'all-nine'}`;

export type TensionPair = 'lifePath-expression' | 'soulUrge-personality';

export interface ThreadSource {
  readonly age: number;
  readonly numbers: WeighedNumbers;
  readonly grid: Pick<Grid, 'lessons'>;
  readonly bridges: Bridges;
  readonly cycles: { readonly periods: readonly Stage[]; readonly pinnacles: readonly Stage[] };
  readonly weights: Weights;
}

/** The threads of a theme by priority, at most one of each kind: two to five. */
export const threads = (source: ThreadSource): Thread[] =>
  [opening(source), tension(source), resource(source), threshold(source), rare(source)].filter(
    (thread) => thread !== null,
  );

function opening({ numbers, weights }: ThreadSource): Thread {
  const held = POSITIONS.map((position) => numbers[position].root).filter((root) => root !== null);
  const echoing = held.find((root) => held.filter((other) => other === root).length >= 3);
  if (echoing !== undefined) return `echo:${echoing}`;
  const heaviest: readonly number[] = dominant(weights);
  return `dominant:${held.find((root) => heaviest.includes(root)) ?? heaviest[0] ?? 0}`;
}

/** Friction takes precedence over distance: 3 and 4 disagree more than 3 and 9, though they are neighbours. */
function tension({ numbers, bridges }: ThreadSource): Thread | null {
  const { lifePath, expression, soulUrge, personality } = numbers;
  const dialogues = [
    dialogue('lifePath-expression', lifePath.root, expression.root, bridges.lifePathExpression),
    dialogue('soulUrge-personality', soulUrge.root, personality.root, bridges.soulUrgePersonality),
  ].filter((entry) => entry !== null);
  const [strongest] = dialogues
    .filter((entry) => entry.bridge > 0)
    .sort((a, b) => Number(b.friction) - Number(a.friction) || b.bridge - a.bridge);
  return strongest ? `tension:${strongest.pair}:${strongest.bridge}` : null;
}

const dialogue = (pair: TensionPair, a: number | null, b: number | null, bridge: number | null) =>
  a === null || b === null || bridge === null
    ? null
    : { pair, bridge, friction: relationOf(a, b) === 'friction' };

/** The numbers that can supply a missing letter value. Not the Birthday: it is given, not developed during life. */
const RESOURCES = ['lifePath', 'expression', 'soulUrge', 'personality', 'maturity'] as const;

function resource({ numbers, grid }: ThreadSource): Thread | null {
  const lessons: readonly number[] = grid.lessons;
  for (const position of RESOURCES) {
    const { root } = numbers[position];
    if (root !== null && lessons.includes(root)) return `lesson-in-core:${root}`;
  }
  return null;
}

/**
 * A stage that begins within two years of the reading, before or after. That is at age − 1, age, age + 1 or age + 2,
 * since the age is in completed years. The nearest wins, then the one to come, then a pinnacle. A pinnacle and a period
 * that change within a year count as one threshold.
 */
function threshold({ age, cycles }: ThreadSource): Thread | null {
  const stages = [
    ...cycles.pinnacles.map((stage) => ({ kind: 'pinnacle' as const, stage })),
    ...cycles.periods.map((stage) => ({ kind: 'period' as const, stage })),
  ].filter(({ stage }) => stage.index > 1);
  for (const years of [0, 1, -1, 2]) {
    const found = stages.find(({ stage }) => stage.fromAge === age + years);
    if (found) return `threshold:${found.kind}-${found.stage.index}:${found.stage.fromAge}`;
  }
  return null;
}

function rare({ numbers, grid }: ThreadSource): Thread | null {
  if (POSITIONS.some((position) => numbers[position].value === 33)) return 'rare:33';
  if (grid.lessons.length >= 5) return 'rare:five-lessons';
  if (numbers.soulUrge.value === null) return 'rare:no-vowel';
  return grid.lessons.length === 0 ? 'rare:all-nine' : null;
}

/** The themes of the text, decided before any sentence is chosen: weights, dominant and absent roots, and threads by priority. */
export function synthesis(source: Omit<ThreadSource, 'weights'> & { readonly grid: Grid }) {
  const all = weights(source.numbers, source.grid);
  return {
    weights: all,
    dominant: dominant(all),
    absent: absent(all),
    threads: threads({ ...source, weights: all }),
  };
}
