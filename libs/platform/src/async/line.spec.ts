import { expect, it } from '@jest/globals';
import { Line, LineFull } from './line.js';

const held = () => {
  let finish = (): void => undefined;
  const promise = new Promise<void>((resolve) => (finish = resolve));
  return { promise, finish };
};

it('does one piece of work after another, also after one that failed', async () => {
  const line = new Line(3, 3);
  const [done, first]: [string[], ReturnType<typeof held>] = [[], held()];
  const failing = line.run('a', async () => {
    await first.promise;
    throw new Error('lost');
  });
  const second = line.run('b', async () => void done.push('second'));
  await new Promise(setImmediate);
  expect(done).toEqual([]);
  first.finish();
  await expect(failing).rejects.toThrow('lost');
  await second;
  expect(done).toEqual(['second']);
});

it('refuses at once what would make it too long, in all or for one asker', async () => {
  const line = new Line(3, 2);
  const first = held();
  const waiting = ['a', 'a', 'b'].map((asker) => line.run(asker, () => first.promise));
  await expect(line.run('c', () => first.promise)).rejects.toBeInstanceOf(LineFull);
  first.finish();
  await Promise.all(waiting);

  const next = held();
  const own = ['a', 'a'].map((asker) => line.run(asker, () => next.promise));
  await expect(line.run('a', () => next.promise)).rejects.toBeInstanceOf(LineFull);
  const other = line.run('b', () => next.promise);
  next.finish();
  await Promise.all([...own, other]);
});
