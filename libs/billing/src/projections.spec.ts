import { describe, expect, it } from '@jest/globals';
import type { Recorded, StoredEvent } from '#event-sourcing/core/event.js';
import type { CreditsEvent } from './contracts/events.js';
import { balanceProjection } from './projections.js';
import { adjustment } from '../test/adjustment.js';
import { openedBook, type TestBook } from '../test/book.js';
import { storedInParts } from '../test/in-parts.js';

const [balances] = balanceProjection.views;
let revision = 0n;
const event = (type: CreditsEvent['type'], data: object): Recorded =>
  ({
    id: `e${revision}`,
    stream: 'credits-ws_1',
    revision: revision++,
    position: revision,
    type,
    data,
    metadata: { occurredAt: '2026-04-12T10:00:00.000Z' },
  }) as unknown as Recorded;

const opened = event('BookOpened', { period: '2026-04' });
const granted = event('CreditsAdjusted', { amount: 30 });
const reserved = event('CreditsReserved', { reservationId: 'r1', amount: 20, allocations: [] });
const fold = (events: readonly Recorded[], row: Record<string, unknown> | null = null) =>
  events.reduce((before, one) => balances!.evolve(before, one), row);

describe('the row of a book', () => {
  it('is refused when it was deleted: the movement would be lost in silence', () => {
    expect(() => fold([reserved])).toThrow(/row of the book is missing/);
  });

  it('is refused when an event overdraws a book, even if a later event of the batch restores it', () => {
    const early = { ...reserved, revision: 1n } as Recorded;
    const late = { ...granted, revision: 2n } as Recorded;
    expect(() => fold([opened, early, late])).toThrow(/overdrawn: available -20/);
  });
});

describe('when a book is due', () => {
  type Row = Record<string, unknown>;

  const fold = (events: readonly StoredEvent[], row: Row | null = null): Row =>
    events.reduce((before, event) => balances!.evolve(before, event as Recorded), row)!;

  /** When the row of a book says that something is next due. */
  const dueAt = ({ events }: TestBook): string => fold(events)['due_at'] as string;

  /** Nudges an idle book at each time that its row names, and returns these times with what was then recorded. */
  const nudge = async (book: TestBook, until: string): Promise<string[]> => {
    const seen: string[] = [];
    for (let at = dueAt(book); at < until; at = dueAt(book)) {
      const before = book.events.length;
      await book.do(at, { type: 'RecordDue' });
      const types = book.events.slice(before).map(({ type }) => type);
      seen.push(`${at.slice(0, 10)} ${types.join(' ')}`);
    }
    return seen;
  };

  const subscribe = { type: 'SubscribeToPlan', approvalRef: null } as const;

  describe('when an idle book is next due', () => {
    it('grants the month of a changed plan on its day, although an older grant expires before', async () => {
      const book = await openedBook();
      await book.do('2026-05-10T12:00:00Z', { ...subscribe, plan: 'studio' });
      await book.do('2026-05-20T12:00:00Z', { ...subscribe, plan: 'pro', when: 'now' });
      expect(await nudge(book, '2026-07-15')).toEqual([
        '2026-06-01 PeriodClosed',
        '2026-06-10 GrantExpired',
        '2026-06-20 GrantExpired PlanGranted',
        '2026-07-01 PeriodClosed',
      ]);
    });

    it('does not wait for the expiry of a grant that was used up', async () => {
      const book = await openedBook();
      const gift = { adjustmentId: 'a1', amount: 20, reason: 'sorry', approvedBy: 'ada' };
      await book.do('2026-04-11T12:00:00Z', adjustment({ ...gift, expiresAt: '2026-04-20T00:00:00.000Z' }));
      await book.reserve('2026-04-12T12:00:00Z', 'r1');
      expect(dueAt(book)).toBe('2026-05-01T00:00:00.000Z');
      await book.settle('2026-04-12T12:00:01Z', 'ReleaseCredits', 'r1');
      expect(dueAt(book)).toBe('2026-04-20T00:00:00.000Z');
    });

    it('is the same when months are closed in parts, and the end of the month between two parts', async () => {
      const book = await openedBook();
      await book.do('2026-04-10T12:00:00Z', { ...subscribe, plan: 'studio' });
      const gift = { adjustmentId: 'a1', amount: 7, reason: 'sorry', approvedBy: 'ada' };
      await book.do('2026-04-11T12:00:00Z', adjustment({ ...gift, expiresAt: '2026-05-04T00:00:00.000Z' }));
      await book.do('2026-05-02T12:00:00Z', { type: 'RecordDue' });
      const events = storedInParts(book.events);
      expect(fold(events)).toMatchObject({ due_at: dueAt(book), agenda: fold(book.events)['agenda'] });
      const first = events.findIndex(({ type }) => type === 'PeriodCarried');
      const kept = fold(events.slice(0, first + 1));
      expect(kept).toMatchObject({ due_at: '2026-05-01T00:00:00.000Z', revision: String(first) });
    });
  });
});
