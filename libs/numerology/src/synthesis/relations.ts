import { type Digit, DIGITS } from '../arithmetic/reduce.js';

/** How two roots relate: an `ally` pulls the same way, a `complement` adds what the other lacks, `friction` opposes. */
export type Relation = 'same' | 'ally' | 'complement' | 'friction';

/**
 * The hand-written table of unordered pairs. The traditional concords 1-5-7, 2-4-8 and 3-6-9 are allies. The others
 * follow from what the two numbers mean: 3 plays where 4 builds (friction), 1 begins where 2 joins (complement).
 */
const TABLE: Readonly<Record<string, Relation>> = {
  '1-2': 'complement',
  '1-3': 'complement',
  '1-4': 'friction',
  '1-5': 'ally',
  '1-6': 'friction',
  '1-7': 'ally',
  '1-8': 'friction',
  '1-9': 'complement',
  '2-3': 'complement',
  '2-4': 'ally',
  '2-5': 'friction',
  '2-6': 'ally',
  '2-7': 'complement',
  '2-8': 'ally',
  '2-9': 'complement',
  '3-4': 'friction',
  '3-5': 'ally',
  '3-6': 'ally',
  '3-7': 'friction',
  '3-8': 'complement',
  '3-9': 'ally',
  '4-5': 'friction',
  '4-6': 'ally',
  '4-7': 'complement',
  '4-8': 'ally',
  '4-9': 'friction',
  '5-6': 'friction',
  '5-7': 'ally',
  '5-8': 'friction',
  '5-9': 'complement',
  '6-7': 'friction',
  '6-8': 'complement',
  '6-9': 'ally',
  '7-8': 'friction',
  '7-9': 'complement',
  '8-9': 'complement',
};

/** The relation of two roots 1–9, in either order. Throws a RangeError for other numbers. */
export function relationOf(a: number, b: number): Relation {
  const relation = RELATION_BY_PAIR.get(pairKey(a, b));
  if (!relation) throw new RangeError('a relation needs two roots from 1 to 9');
  return relation;
}

/** `3-4`: the key of an unordered pair, the smaller root first. */
export const pairKey = (a: number, b: number): string => (a < b ? `${a}-${b}` : `${b}-${a}`);

export interface PairRelation {
  readonly pair: readonly [Digit, Digit];
  readonly relation: Relation;
}

/** All 45 unordered pairs, ordered 1-1, 1-2, … 9-9. */
export const relations: readonly PairRelation[] = DIGITS.flatMap((a) =>
  DIGITS.filter((b) => b >= a).map((b): PairRelation => ({
    pair: [a, b],
    relation: a === b ? 'same' : (TABLE[`${a}-${b}`] ?? 'complement'),
  })),
);

const RELATION_BY_PAIR: ReadonlyMap<string, Relation> = new Map(
  relations.map(({ pair, relation }) => [pairKey(...pair), relation]),
);
