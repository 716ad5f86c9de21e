import { expect, it } from '@jest/globals';
import { LineFull, Lines } from './lines.js';

const turns = () => new Promise(setImmediate);

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
  await turns();
  expect(started).toEqual(['a1', 'b1']);
  await expect(lines.run('a', work('a3'))).rejects.toBeInstanceOf(LineFull);
  finish();
  await Promise.all(all);
  expect(started).toEqual(['a1', 'b1', 'a2']);
  await lines.run('a', work('a4'));
  expect(started).toContain('a4');
});
