import { expect, it } from '@jest/globals';
import { ApiProblem } from '../frame/api.js';
import { shown, visitTo } from '../testing/show.js';
import { eventsPage } from './events.js';

it('asks the API first, so that the newest events count for the rate limit like any other', async () => {
  const asked: string[] = [];
  const problem = { code: 'rate_limited', status: 429 };
  const visit = visitTo({
    get: (path) => {
      asked.push(path);
      throw new ApiProblem(problem as never, 1);
    },
    query: (name) => {
      asked.push(name);
      return [];
    },
  });
  await expect(shown(eventsPage, visit)).rejects.toBeInstanceOf(ApiProblem);
  expect(asked).toEqual(['/events']);
});
