import { expect, it } from '@jest/globals';
import { shown, visitTo } from '../testing/show.js';
import { statementPage } from './statement.js';

const READING = '683248f8-5cac-859b-8231-a49bd7abc6ed';
const AMOUNTS = { available: 0, held: 0 };

it.each([true, false])(
  'leads from a movement to its reading where the session sees readings (%s)',
  async (may) => {
    const visit = visitTo({
      params: { period: '2026-11' },
      query: () => ({
        ...{ opening: AMOUNTS, closing: AMOUNTS, closed: false, hasEarlier: false },
        entries: [
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
