import { expect, it } from '@jest/globals';
import { READING_COST } from '#billing/contracts/index.js';
import { shown, visitTo } from '../testing/show.js';
import { TEXTS } from '../texts/texts.js';
import { creditsPage, statementFilePage, statementPage, statementPdfPage } from './credits.js';
import { refusal } from '../frame/api.js';
import type { Download } from '../frame/page.js';

const { credits } = TEXTS.en;

const pageWith = (available: number, readings: number): Promise<string> => {
  const day = new Date().toISOString().slice(0, 10);
  const visit = visitTo({
    get: () => ({ available, reserved: 0, grants: [] }),
    query: (name) => (name === 'CountReadings' ? [{ day, readings }] : null),
  });
  return shown(creditsPage, visit);
};

it('says how long the credits last, or that they do not pay for another reading', async () => {
  expect(await pageWith(READING_COST, 14)).toContain(credits.lasts('1 day'));
  const few = await pageWith(READING_COST - 1, 1);
  expect(few).toContain(credits.tooFew);
  expect(few).not.toContain('They last');
  expect(await pageWith(READING_COST, 0)).toContain(credits.noForecast);
});

const READING = '683248f8-5cac-859b-8231-a49bd7abc6ed';
const AMOUNTS = { available: 0, held: 0 };

it.each([true, false])(
  'leads from a movement to its reading where the session sees readings (%s)',
  async (may) => {
    const visit = visitTo({
      params: { period: '2026-11' },
      query: () => ({
        ...{ opening: AMOUNTS, closing: AMOUNTS, closed: false, count: 1 },
        newest: async () => [
          {
            ...{ type: 'CreditsCaptured', occurredAt: '2026-11-04T05:06:07.000Z', postings: [] },
            ...{ availableAfter: 0, readingId: READING },
          },
        ],
      }),
    });
    const sees = (scope: string): boolean => may || scope !== 'readings:read';
    const page = await shown(statementPage, { ...visit, may: sees });
    expect(page).toContain(READING.slice(0, 8));
    expect(page.includes(`href="/portal/readings/${READING}"`)).toBe(may);
  },
);

/** A visit to the files of a month of so many movements, and what it did, in order. */
const visitToMonthOf = (count: number) => {
  const did: string[] = [];
  async function* entries() {
    did.push('read');
    yield* [];
  }
  const visit = {
    ...visitTo({ params: { period: '2026-11' }, query: () => ({ count, entries: entries() }) }),
    charge: async (requests: number) => void did.push(`charged ${requests}`),
  };
  return { visit, did };
};

it('counts a file by its size, before the first movement is read', async () => {
  const { visit, did } = visitToMonthOf(300_000);
  const { content } = (await statementFilePage.show(visit)) as Download;
  expect(did).toEqual(['charged 3000']);
  for await (const part of content as AsyncIterable<string>) expect(part).toMatch(/^occurredAt,type,/);
  expect(did).toEqual(['charged 3000', 'read']);
});

it('prints no month of more than 20,000 movements, and reads and counts nothing of it', async () => {
  const { visit, did } = visitToMonthOf(20_001);
  await expect(statementPdfPage.show(visit)).rejects.toMatchObject({ problem: { status: 422 } });
  expect(did).toEqual([]);
});

it.each([
  ['before its turn comes', 1],
  ['while it is made', 2],
])('gives no statement to a session that ends %s', async (_, verified) => {
  const queried: string[] = [];
  let times = 0;
  const visit = visitTo({
    params: { period: '2026-11' },
    query: (name) => {
      queried.push(name);
      return { opening: AMOUNTS, closing: AMOUNTS, closed: false, count: 0, newest: async () => [] };
    },
    stands: () => {
      times += 1;
      if (times === verified) throw refusal(401, 'unauthenticated');
    },
  });
  await expect(statementPage.show(visit)).rejects.toMatchObject({ problem: { status: 401 } });
  expect(queried).toHaveLength(verified - 1);
});
