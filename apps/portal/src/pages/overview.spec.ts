import { expect, it } from '@jest/globals';
import type { Api, ApiQuery } from '../frame/api.js';
import { formatsOf } from '../frame/formats.js';
import type { Visit } from '../frame/page.js';
import { TEXTS } from '../texts/texts.js';
import { overviewPage } from './overview.js';

it('takes as late what is under way for longer than the setting says', async () => {
  const asked: ApiQuery[] = [];
  const get = (_path: string, query: ApiQuery = {}): Promise<unknown> => {
    asked.push(query);
    return Promise.resolve({ data: [] });
  };
  const hours = 3_600_000;
  const before = Date.now();
  await overviewPage.show({
    session: { mode: 'live', workspaceId: 'ws_1' },
    api: { get } as unknown as Api,
    queries: { execute: () => Promise.resolve([]) },
    texts: TEXTS.en,
    formats: formatsOf('en', 'UTC'),
    query: new URLSearchParams(),
    may: () => true,
    lateAfterMs: 7 * hours,
  } as unknown as Visit);
  const bounds = asked.flatMap(({ createdUntil }) => (createdUntil === undefined ? [] : [createdUntil]));
  expect(bounds).toHaveLength(2);
  for (const bound of bounds) {
    expect(Date.parse(String(bound))).toBeGreaterThanOrEqual(before - 7 * hours);
    expect(Date.parse(String(bound))).toBeLessThanOrEqual(Date.now() - 7 * hours);
  }
});
