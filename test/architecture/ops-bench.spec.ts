import 'reflect-metadata';
import { expect, it } from '@jest/globals';
import { allCommands, ARGUMENTS } from '../bench/ops/commands.js';

// A new command without a row would be one whose time nobody knows.
it('the benchmark times every command of ops', async () => {
  expect(Object.keys(ARGUMENTS).toSorted()).toEqual((await allCommands()).toSorted());
});
