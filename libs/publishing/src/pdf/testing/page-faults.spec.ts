import { expect, it } from '@jest/globals';
import type { LaidOutPage, Run } from './laid-out.js';
import { pageFaults } from './page-faults.js';

const [LEFT, RIGHT] = [119, 476];

/** A line of text, as a finished PDF has it. @param baseline points from the top */
const run = (text: string, baseline: number, over: Partial<Run> = {}): Run => ({
  ...{ text, left: LEFT, right: RIGHT, baseline, size: 11, top: baseline - 8, bottom: baseline + 2 },
  role: 'P',
  ...over,
});
const page = (...runs: Run[]): LaidOutPage => ({ width: 595.28, height: 841.89, runs, turned: [] });
const lines = Array.from({ length: 40 }, (_, index) => run('Plain text', 100 + 15 * index));

it.each<[string, Run, string[]]>([
  [
    'two texts overlap',
    run('A word too long', 100, { left: 300, right: 400 }),
    ['page 2: “A word too long” is printed over “Plain text”'],
  ],
  [
    'a line is too wide',
    run('Too wide', 765, { right: RIGHT + 4 }),
    ['page 2: “Too wide” reaches into the margin'],
  ],
  ['a line is below the paper', run('Low', 845), ['page 2: “Low” reaches into the margin']],
  ['not where a stop hangs', run('It hangs.', 765, { right: RIGHT + 3 }), []],
])('A page is faulty where %s', (_, planted, faults) => {
  expect(pageFaults([page(run('Ada', 200)), page(...lines, planted), page(...lines)])).toEqual(faults);
});
