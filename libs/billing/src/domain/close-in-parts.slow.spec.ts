import { describe, expect, it } from '@jest/globals';
import { fold } from '#event-sourcing/core/decider.js';
import { at, bookOpened } from '../../test/events.js';
import type { CreditsEvent, CreditsEventOf } from '../contracts/events.js';
import { bytesOf, MOST_DUE_BYTES, MOST_PART_BYTES } from './carried.js';
import { credits } from './credits.decider.js';
import { noBook, type Credits } from './credits.state.js';
import { dueBy, isDue } from './due.js';
import { violations } from '../../test/violations.js';

const GIFTS = 5_000;
const ID = '4f1c2e9d-6a4c-5f8e-8b5a-7d9c2f4e';
const gift = (index: number): CreditsEventOf<'CreditsAdjusted'> => {
  const adjustmentId = `${ID}${1_000 + index}`;
  return {
    type: 'CreditsAdjusted',
    data: {
      adjustmentId,
      amount: 20,
      allocations: [{ grantId: `adjustment:${adjustmentId}`, amount: 20 }],
      reason: 'sorry',
      approvedBy: 'grace',
      reversesEventId: null,
      reference: 'INC-42',
      actor: 'operator:ada',
    },
  };
};
const history: CreditsEvent[] = [bookOpened(), ...Array.from({ length: GIFTS }, (_, index) => gift(index))];
const book = fold(credits, noBook, history);
const END = '2026-05-01T00:00:00.000Z';

/** One append after another, until nothing is due. Each process starts from what is stored. */
const recordAll = (from: Credits, now: number): CreditsEvent[][] => {
  const appends: CreditsEvent[][] = [];
  for (let state = from; isDue(state, now); state = fold(credits, state, appends.at(-1)!)) {
    const decision = credits.decide({ type: 'RecordDue', now }, state);
    if (decision.kind !== 'accept') throw new Error(`RecordDue was ${decision.kind}`);
    appends.push([...decision.events]);
  }
  return appends;
};

describe('a book with thousands of gifts', () => {
  const appends = recordAll(book, at(END));
  const events = appends.flat();

  it('closes its month in parts, each of which the event store takes', () => {
    expect(appends.length).toBeGreaterThan(1);
    expect(new Set(events.slice(0, -1).map(({ type }) => type))).toEqual(new Set(['PeriodCarried']));
    for (const event of events) expect(bytesOf([event])).toBeLessThanOrEqual(MOST_PART_BYTES + 500);
    for (const append of appends) expect(bytesOf(append)).toBeLessThanOrEqual(MOST_DUE_BYTES);
    const closed = events.at(-1)! as CreditsEventOf<'PeriodClosed'>;
    expect(closed.data).toMatchObject({
      openGrants: [],
      adjustmentIds: [],
      carried: { parts: events.length - 1 },
    });
  });

  it('goes on after its first part, also by a clock that is behind', () => {
    const [first, ...others] = events;
    const early = at('2026-04-30T23:59:58.000Z');
    expect(isDue(book, early)).toBe(false);
    expect(recordAll(fold(credits, book, [first!]), early).flat()).toEqual(others);
  });

  it('begins the parts again when another entry came between them', () => {
    const [first] = events;
    const [again] = dueBy(fold(credits, book, [first!, gift(GIFTS)]), at(END)).events;
    expect(again).toMatchObject({ type: 'PeriodCarried', data: { part: 0 } });
  });
});

describe('a book with thousands of gifts that expire at once', () => {
  it('records their expiry in as many appends as it takes, and then closes the month', () => {
    const some = history.slice(0, 1_800);
    const expiring = some.map((event) =>
      event.type === 'CreditsAdjusted'
        ? { ...event, data: { ...event.data, expiresAt: '2026-04-20T00:00:00.000Z' } }
        : event,
    );
    const appends = recordAll(fold(credits, noBook, expiring), at(END));
    for (const append of appends) expect(bytesOf(append)).toBeLessThanOrEqual(MOST_DUE_BYTES);
    const types = appends.flat().map(({ type }) => type);
    expect(types.filter((type) => type === 'GrantExpired')).toHaveLength(some.length - 1);
    expect(appends.length).toBeGreaterThan(1);
    expect(types.at(-1)).toBe('PeriodClosed');
    expect(violations([...expiring, ...appends.flat()])).toEqual([]);
  });
});
