import { expect, it } from '@jest/globals';
import { Lanes, LanesFull, Lines } from './lanes.js';

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

it("does one asker's work one after another, beside that of others, and refuses what makes a line too long", async () => {
  const lines = new Lines(2);
  const started: string[] = [];
  let finish = (): void => undefined;
  const held = new Promise<void>((resolve) => (finish = resolve));
  const work = (name: string) => () => {
    started.push(name);
    return held;
  };
  const all = [lines.run('a', work('a1')), lines.run('a', work('a2')), lines.run('b', work('b1'))];
  await new Promise(setImmediate);
  expect(started).toEqual(['a1', 'b1']);
  await expect(lines.run('a', work('a3'))).rejects.toBeInstanceOf(LanesFull);
  finish();
  await Promise.all(all);
  expect(started).toEqual(['a1', 'b1', 'a2']);
  await lines.run('a', work('a4'));
  expect(started).toContain('a4');
});
