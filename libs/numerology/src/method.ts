import { MASTERS } from './arithmetic/reduce.js';

export const METHOD_ID = 'evan-1';

/** Version of the calculation. A change to any number is at least a new minor version. */
export const ENGINE_VERSION: string = '1.0.0';

/** The conventions of profile `evan`, included in every result. */
export interface Method {
  readonly id: typeof METHOD_ID;
  readonly letters: 'pythagorean';
  readonly nameReduction: 'by-word';
  readonly yRule: 'positional';
  readonly lifePath: 'components';
  readonly masters: readonly number[];
  readonly periodAges: 'decoz';
}

export const METHOD: Method = {
  id: METHOD_ID,
  letters: 'pythagorean',
  nameReduction: 'by-word',
  yRule: 'positional',
  lifePath: 'components',
  masters: MASTERS,
  periodAges: 'decoz',
};
