import { expect, it } from '@jest/globals';
import { MODES } from '#event-sourcing/core/request-context.js';
import { livemodeOf, seesMode } from './livemode.js';

it('tells which mode a caller sees', () => {
  const callers = [{ sees: ['live'] as const }, { sees: ['test'] as const }, { sees: MODES }];
  expect(callers.map(livemodeOf)).toEqual([true, false, null]);
  expect(callers.map((caller) => [seesMode(caller, true), seesMode(caller, false)])).toEqual([
    [true, false],
    [false, true],
    [true, true],
  ]);
});
