import type { Arbitrary } from 'fast-check';

export type Check = Arbitrary<unknown>;
