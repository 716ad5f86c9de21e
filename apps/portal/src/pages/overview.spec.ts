import { expect, it } from '@jest/globals';
import type { ApiQuery } from '../frame/api.js';
import { visitTo } from '../testing/show.js';
import { overviewPage } from './overview.js';

it('takes as late what is under way for longer than the setting says', async () => {
  const asked: ApiQuery[] = [];
  const get = (_path: string, query: ApiQuery): null => {
    asked.push(query);
    return null;
  };
  const hours = 3_600_000;
  const before = Date.now();
  await overviewPage.show({ ...visitTo({ get }), lateAfterMs: 7 * hours });
  const bounds = asked.flatMap(({ createdUntil }) => (createdUntil === undefined ? [] : [createdUntil]));
  expect(bounds).toHaveLength(2);
  for (const bound of bounds) {
    expect(Date.parse(String(bound))).toBeGreaterThanOrEqual(before - 7 * hours);
    expect(Date.parse(String(bound))).toBeLessThanOrEqual(Date.now() - 7 * hours);
  }
});
