import { expect, it } from '@jest/globals';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { askedTogether } from './asked-together.js';

const counting = (most?: number) => {
  const asked: (readonly number[])[] = [];
  const double = askedTogether<number, number>(
    (questions) => {
      asked.push(questions);
      return Promise.resolve(questions.map((question) => question * 2));
    },
    most === undefined ? {} : { most },
  );
  return { asked, double };
};

it('Questions of one event-loop turn share a statement, and each gets its own answer', async () => {
  const { asked, double } = counting();
  const later = Promise.resolve().then(() => double(3));
  expect(await Promise.all([double(1), double(2), later, double(1)])).toEqual([2, 4, 6, 2]);
  expect(asked.map((questions) => questions.toSorted())).toEqual([[1, 1, 2, 3]]);
});

it('No answer is cached: a question of a later turn is asked again', async () => {
  const { asked, double } = counting();
  await double(1);
  await nextTurn();
  await double(1);
  expect(asked).toEqual([[1], [1]]);
});

it('One statement has at most the allowed number of questions', async () => {
  const { asked, double } = counting(2);
  await Promise.all([1, 2, 3, 4, 5].map(double));
  expect(asked).toEqual([[1, 2], [3, 4], [5]]);
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
