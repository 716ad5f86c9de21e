import { beforeAll, describe, expect, it } from '@jest/globals';
import type { StoredEvent } from '#event-sourcing/core/event.js';
import { collect, type ReadOptions } from '#event-sourcing/store/event-store.js';
import { MonthMovementsHandler } from '../application/statements.js';
import { GetMonthMovements } from '../contracts/audit.js';
import { createCreditsExecutor } from '../executors.js';
import { eventfulBook, storeAll, STREAM, streamOf, TestBook, WS } from '../../test/book.js';
import { storedInParts } from '../../test/in-parts.js';
import { findClose, readMonth, statementOf } from './statement.js';

const LIMIT = 3;

/** Counts the events that are read. */
const counted = (events: readonly StoredEvent[]) => {
  const seen: bigint[] = [];
  const inOrder = ({ from, direction = 'forwards', limit = Infinity }: ReadOptions) => {
    const chosen =
      direction === 'forwards'
        ? events.filter(({ revision }) => revision >= (from ?? 0n))
        : events.filter(({ revision }) => from === undefined || revision <= from).toReversed();
    return chosen.slice(0, limit);
  };
  const store = {
    async *read(_: string, options: ReadOptions = {}) {
      for (const event of inOrder(options)) {
        seen.push(event.revision);
        yield event;
      }
    },
  };
  return { store, seen };
};

const wholeStatement = (events: readonly StoredEvent[], period: string) =>
  statementOf(WS, period, streamOf(events));

const bookClosedInParts = async (): Promise<TestBook> => {
  const book = new TestBook();
  await storeAll(book.store, storedInParts((await eventfulBook()).events));
  return book;
};

const books: [string, () => Promise<TestBook>, readonly string[]][] = [
  ['with every kind of entry', () => eventfulBook(), ['2026-03', '2026-04', '2026-05', '2026-06', '2026-07']],
  ['whose months close in parts', bookClosedInParts, ['2026-03', '2026-04', '2026-05', '2026-06']],
];

describe.each(books)('the months of a book %s', (_, make, periods) => {
  let book: TestBook;
  beforeAll(async () => {
    book = await make();
  });

  it.each(periods)(
    'give the same statement from the close before %s as from the beginning',
    async (period) => {
      const whole = await wholeStatement(book.events, period);
      expect(await statementOf(WS, period, readMonth(book.store, STREAM, period))).toEqual(whole);
    },
  );

  it.each(periods)('have the movements of the statement of %s: the newest, or all', async (period) => {
    const whole = await wholeStatement(book.events, period);
    const handler = new MonthMovementsHandler(book.store, createCreditsExecutor(book.store, 10_000));
    const month = await handler.execute(new GetMonthMovements(WS, period));
    if (whole === null) return expect(month).toBeNull();
    const { closed, opening, closing, entries } = whole;
    expect(month).toMatchObject({ closed, opening, closing, count: entries.length });
    expect(await month!.newest(LIMIT)).toEqual(entries.slice(-LIMIT).toReversed());
    expect(await month!.newest(entries.length + 1)).toEqual(entries.toReversed());
    expect(await collect(month!.entries)).toEqual(entries);
  });
});

describe('the close of a month', () => {
  let events: readonly StoredEvent[];
  beforeAll(async () => {
    const book = new TestBook();
    await book.do('2026-04-10T12:00:00Z', { type: 'OpenBook', workspaceId: WS });
    await book.do('2026-04-10T12:00:01Z', { type: 'PurchasePack', pack: 'burst', orderRef: 'o1' });
    for (let n = 0; n < 90; n += 1) {
      const at = new Date(Date.UTC(2026, 3, 11 + n)).toISOString();
      await book.reserve(at, `r${n}`);
    }
    events = book.events;
  });

  it('is found without reading the book', async () => {
    const { store, seen } = counted(events);
    const close = await findClose(store, STREAM, '2026-05');
    expect(close).toMatchObject({ type: 'PeriodClosed', data: { period: '2026-05' } });
    expect(seen.length).toBeLessThan(12);
  });

  it('is found although a wrong clock dated an entry', async () => {
    const wrong = events.map((event) =>
      event.revision === BigInt(Math.floor(events.length / 2))
        ? { ...event, metadata: { ...event.metadata, occurredAt: '2031-01-01T00:00:00.000Z' } }
        : event,
    );
    const { store } = counted(wrong);
    for (const period of ['2026-04', '2026-05', '2026-06'])
      expect(await findClose(store, STREAM, period)).toMatchObject({ data: { period } });
  });

  it.each(['2026-03', '2026-07', '2031-01'])(
    'is not there for %s, and nothing is searched for it',
    async (period) => {
      const { store, seen } = counted(events);
      expect(await findClose(store, STREAM, period)).toBeNull();
      expect(seen.length).toBeLessThan(12);
    },
  );
});
