import { expect, it } from '@jest/globals';
import { READING_COST } from '#billing/contracts/index.js';
import { shown, visitTo } from '../testing/show.js';
import { TEXTS } from '../texts/texts.js';
import { creditsPage } from './credits.js';

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
