import { type Digit, DIGITS } from '../arithmetic/reduce.js';
import type { Grid } from '../numbers/grid.js';
import type { Numbers } from '../numbers/numbers.js';

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
