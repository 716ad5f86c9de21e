import { reduce } from '../arithmetic/reduce.js';
import type { Letter } from '../name/words.js';

export type PlaneName = 'physical' | 'mental' | 'emotional' | 'intuitive';

export interface Plane {
  /** number of letters, drawn in the figure */
  readonly count: number;
  /** sum of their values */
  readonly sum: number;
  /** red(sum), 0 for an empty plane */
  readonly value: number;
}

export type Planes = Readonly<Record<PlaneName, Plane>>;

/** Letters of each plane of expression. Two published code bases agree on them. */
export const PLANE_LETTERS: Readonly<Record<PlaneName, string>> = {
  physical: 'DEMW',
  mental: 'AGHJLNP',
  emotional: 'BIORSTXZ',
  intuitive: 'CFKQUVY',
};

export const planes = (letters: readonly Letter[]): Planes => ({
  physical: plane(letters, PLANE_LETTERS.physical),
  mental: plane(letters, PLANE_LETTERS.mental),
  emotional: plane(letters, PLANE_LETTERS.emotional),
  intuitive: plane(letters, PLANE_LETTERS.intuitive),
});

function plane(letters: readonly Letter[], members: string): Plane {
  let count = 0;
  let sum = 0;
  for (const { letter, value } of letters) {
    if (!members.includes(letter)) continue;
    count += 1;
    sum += value;
  }
  return { count, sum, value: reduce(sum) };
}
