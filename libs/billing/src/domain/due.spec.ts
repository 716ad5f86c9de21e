import { describe, expect, it } from '@jest/globals';
import { fold } from '#event-sourcing/core/decider.js';
import type { CreditsEvent, CreditsEventOf } from '../contracts/events.js';
import { nextAnchor } from './calendar.js';
import { credits } from './credits.decider.js';
import { noBook } from './credits.state.js';
import { dueBy } from './due.js';
import { GENERATION, isRecent, listRecent, noRecentIds, remember } from './bucket-map.js';
import {
  at,
  bookOpened,
  captured,
  packPurchased,
  planGranted,
  reserved,
  subscribed,
} from '../../test/events.js';

const due = (history: readonly CreditsEvent[], now: string) =>
  dueBy(fold(credits, noBook, [bookOpened('2026-04'), ...history]), at(now)).events;
const closings = (events: readonly CreditsEvent[]) =>
  events.filter((event): event is CreditsEventOf<'PeriodClosed'> => event.type === 'PeriodClosed');

describe('closing a month', () => {
  it('happens at the first instant after it, and not before', () => {
    expect(due([], '2026-04-30T23:59:59.999Z')).toEqual([]);
    expect(due([], '2026-05-01').map(({ type }) => type)).toEqual(['PeriodClosed']);
  });

  it('states opening, turnover and closing of every account', () => {
    const history = [packPurchased('flex', 'o1'), reserved('r1', ['pack:o1:flex', 20]), captured('r1')];
    const [april, may] = closings(due(history, '2026-06-01'));
    expect(april!.data).toMatchObject({
      period: '2026-04',
      opening: { available: 0, consumed: 0 },
      totals: {
        'issued:pack': { debit: 50, credit: 0 },
        available: { debit: 20, credit: 50 },
        held: { debit: 20, credit: 20 },
        consumed: { debit: 0, credit: 20 },
      },
      closing: { 'issued:pack': -50, available: 30, held: 0, consumed: 20 },
      eventCount: 4,
    });
    expect(may!.data).toMatchObject({
      period: '2026-05',
      opening: april!.data.closing,
      totals: { available: { debit: 0, credit: 0 } },
      closing: april!.data.closing,
      eventCount: 5,
    });
  });

  it('books expiries at its end in the month that ends, and grants the new month after it', () => {
    const history = [subscribed('studio', '2026-04-01'), planGranted('studio', '2026-04-01', '2026-05-01')];
    const events = due(history, '2026-05-01');
    expect(events.map(({ type }) => type)).toEqual(['GrantExpired', 'PeriodClosed', 'PlanGranted']);
    expect(closings(events)[0]!.data.closing).toMatchObject({ available: 0, expired: 400 });
  });

  it('books a late recording in the month in which it fell due', () => {
    const history = [subscribed('studio', '2026-04-20'), planGranted('studio', '2026-04-20', '2026-05-20')];
    expect(due(history, '2026-07-15').map(({ type }) => type)).toEqual([
      'PeriodClosed',
      'GrantExpired',
      'PlanGranted',
      'PeriodClosed',
      'GrantExpired',
      'PlanGranted',
      'PeriodClosed',
    ]);
  });

  it('remembers recently settled reservations, and forgets them after a month without any', () => {
    const history = [packPurchased('flex', 'o1'), reserved('r1', ['pack:o1:flex', 20]), captured('r1')];
    expect(closings(due(history, '2026-05-01'))[0]!.data.settled.newer).toEqual(['r1']);
    expect(closings(due(history, '2026-06-01')).map(({ data }) => data.settled.newer)).toEqual([[], []]);
  });
});

describe('the day of the monthly grant', () => {
  it.each([
    ['2026-04-05T09:30:00.000Z', 5, '2026-05-05'],
    ['2028-01-30', 30, '2028-02-29'],
    ['2026-02-28', 31, '2026-03-31'],
  ])('after %s on day %i is %s', (from, anchorDay, next) => {
    expect(nextAnchor(at(from), anchorDay)).toBe(at(next));
  });
});

describe('the memory of settled reservations', () => {
  const ids = (count: number) => Array.from({ length: count }, (_, index) => `r${index}`);

  it('keeps the last ones and stays bounded', () => {
    const recent = ids(3 * GENERATION + 1).reduce(remember, noRecentIds);
    expect(isRecent(recent, `r${3 * GENERATION}`)).toBe(true);
    expect(isRecent(recent, `r${2 * GENERATION}`)).toBe(true);
    expect(isRecent(recent, 'r0')).toBe(false);
    const { older, newer } = listRecent(recent);
    expect([older.length, newer.length]).toEqual([GENERATION, 1]);
  });
});
