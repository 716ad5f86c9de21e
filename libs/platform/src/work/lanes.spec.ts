import { expect, it } from '@jest/globals';
import { Lanes, LanesFull } from './lanes.js';

it('A caller has a tenth of the places of those who wait, and others have the rest', async () => {
  const lanes = new Lanes(1, 20);
  let release: () => void = () => undefined;
  const first = lanes.run(() => new Promise<void>((resolve) => (release = resolve)), 'a');
  const done: string[] = [];
  const asked = ['a', 'a', 'a', 'b'].map((whose) => lanes.run(async () => void done.push(whose), whose));
  await expect(asked[2]).rejects.toThrow(LanesFull);
  release();
  await Promise.all([first, asked[0], asked[1], asked[3]]);
  expect(done).toEqual(['a', 'a', 'b']);
});
