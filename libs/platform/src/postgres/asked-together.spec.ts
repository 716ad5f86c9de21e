import { expect, it } from '@jest/globals';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { askedTogether } from './asked-together.js';

it('Questions of one event-loop turn share a statement of bounded size, and no answer is kept', async () => {
  const asked: (readonly number[])[] = [];
  const double = askedTogether<number, number>(
    (questions) => {
      asked.push(questions);
      return Promise.resolve(questions.map((question) => question * 2));
    },
    { most: 3 },
  );
  const later = Promise.resolve().then(() => double(3));
  expect(await Promise.all([double(1), double(2), later, double(1)])).toEqual([2, 4, 6, 2]);
  await nextTurn();
  expect(await double(1)).toBe(2);
  expect(asked).toEqual([[1, 2, 1], [3], [1]]);
});

it('A failed statement fails its own questions, and no later ones', async () => {
  let away = true;
  const ask = askedTogether<number, number>((questions) =>
    away ? Promise.reject(new Error('away')) : Promise.resolve([...questions]),
  );
  const both = await Promise.allSettled([ask(1), ask(2)]);
  expect(both.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
  away = false;
  expect(await ask(1)).toBe(1);
});
