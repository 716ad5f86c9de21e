import { expect, it } from '@jest/globals';
import { Lanes, LanesFull } from './lanes.js';

it('A limited number of tasks run, as many more wait in order, and further ones are refused', async () => {
  const lanes = new Lanes(1, 2);
  let release: () => void = () => undefined;
  const first = lanes.run(() => new Promise<void>((resolve) => (release = resolve)));
  const done: string[] = [];
  const asked = ['a', 'b', 'c'].map((name) => lanes.run(async () => void done.push(name)));
  await expect(asked[2]).rejects.toThrow(LanesFull);
  release();
  await Promise.all([first, asked[0], asked[1]]);
  expect(done).toEqual(['a', 'b']);
});
