import type { Stage } from '../cycles/stage.js';
import type { Bridges } from '../numbers/bridges.js';
import type { Grid } from '../numbers/grid.js';
import { relationOf } from './relations.js';
import { dominant, POSITIONS, type WeighedNumbers, type Weights } from './weights.js';

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
