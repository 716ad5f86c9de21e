import { beforeEach, expect, it } from '@jest/globals';
import type { Pool } from 'pg';
import type { EpochKeys } from '#platform/crypto/epochs/epoch-keys.js';
import { adjustment, knownIn } from '../../../../libs/billing/test/adjustment.js';
import { openedBook, type TestBook } from '../../../../libs/billing/test/book.js';
import { findUnreadable, refundOf } from './readings.js';

const READING = '7f9c24e8-3b12-4f5e-9c1a-2d8e6b0a4c11';

let book: TestBook;
let capture: string;
beforeEach(async () => {
  book = await openedBook();
  await book.do('2026-04-11T09:00:00Z', { type: 'PurchasePack', pack: 'flex', orderRef: 'o1' });
  await book.reserve('2026-04-12T09:00:00Z', 'r1', READING);
  await book.settle('2026-04-12T09:00:01Z', 'CaptureCredits', 'r1', 'e');
  capture = book.events.at(-1)!.id;
});

/** Books a correction that reverses an entry. @returns its id */
const reverse = async (entry: string, amount: number): Promise<string> => {
  const known = knownIn(book.events);
  const command = adjustment({ adjustmentId: `a${book.events.length}`, amount });
  const entries = command.entries.map((one) => ({ ...one, reversesEventId: entry }));
  await book.do('2026-04-13T09:00:00Z', { ...command, known, entries });
  return book.events.at(-1)!.id;
};

/** What the command finds once PostgreSQL has lost the keys of all readings. */
const found = async () => {
  const query = (_: string, [ids]: [string[]]) =>
    Promise.resolve({ rows: ids.map((id) => ({ id, wrapped: null, formats: [] })) });
  const pool = { query } as unknown as Pool;
  const { readings } = await findUnreadable({ store: book.store, pool, keys: {} as EpochKeys });
  return readings;
};

const entriesOf = async () =>
  refundOf(await found(), { reason: 'INC-42' }).entries.map(({ amount, reversesEventId }) => [
    reversesEventId,
    amount,
  ]);

it('lists and proposes the rest of a reading that was refunded in part', async () => {
  await reverse(capture, 5);
  expect(await found()).toMatchObject([{ readingId: READING, amount: 20, givenBack: 5, refunded: false }]);
  expect(await entriesOf()).toEqual([[capture, 15]]);
});

it('lists and proposes the whole of a refund that was taken back from the reading', async () => {
  await reverse(capture, 20);
  expect(await found()).toMatchObject([{ givenBack: 20, refunded: true, toRefund: [] }]);
  await reverse(capture, -20);
  expect(await found()).toMatchObject([{ givenBack: 0, refunded: false }]);
  expect(await entriesOf()).toEqual([[capture, 20]]);
});

it('reverses the correction that reversed a refund: the capture has nothing left to reverse', async () => {
  const refund = await reverse(capture, 20);
  const takenBack = await reverse(refund, -8);
  expect(await found()).toMatchObject([{ givenBack: 12, refunded: false }]);
  expect(await entriesOf()).toEqual([[takenBack, 8]]);
  await reverse(takenBack, 8);
  expect(await found()).toMatchObject([{ givenBack: 20, refunded: true }]);
});

it('names another correction once a refund was taken back', async () => {
  const reference = async () => refundOf(await found(), { reason: 'INC-42' }).reference;
  const first = await reference();
  expect(await reference()).toBe(first);
  await reverse(await reverse(capture, 20), -20);
  expect(await reference()).not.toBe(first);
});
