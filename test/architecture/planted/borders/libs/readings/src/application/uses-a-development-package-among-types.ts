// caught by: code-ships-with-its-packages
import { assert, type Arbitrary } from 'fast-check';

export const check = (_: Arbitrary<unknown>): unknown => assert;
