import type { Digit } from '../arithmetic/reduce.js';
import { type Thread, threads, type ThreadSource } from './threads.js';
import { absent, dominant, type Weights, weights } from './weights.js';
import type { Grid } from '../numbers/grid.js';

/** The themes of the text, decided before any sentence is chosen. */
export interface Synthesis {
  readonly weights: Weights;
  readonly dominant: readonly Digit[];
  readonly absent: readonly Digit[];
  readonly threads: readonly Thread[];
}

/** Weights, dominant and absent roots, and the threads by priority. */
export function synthesis(source: Omit<ThreadSource, 'weights'> & { readonly grid: Grid }): Synthesis {
  const all = weights(source.numbers, source.grid);
  return {
    weights: all,
    dominant: dominant(all),
    absent: absent(all),
    threads: threads({ ...source, weights: all }),
  };
}
