import { openedBook, type TestBook } from './book.js';

/**
 * A book whose pack of 200 credits for 9,900 cents was refunded in April, after 40 credits. In May the refund was undone in
 * two parts. In June a part of the second was taken back and given again.
 */
export const refundedBook = async (): Promise<TestBook> => {
  const book = await openedBook();
  const use = async (day: string, id: string): Promise<void> => {
    await book.reserve(`${day}T09:00:00Z`, id);
    await book.settle(`${day}T09:00:01Z`, 'CaptureCredits', id);
  };
  await book.do('2026-04-11T09:00:00Z', { type: 'PurchasePack', pack: 'sprint', orderRef: 'o1' });
  const bought = book.events.at(-1)!.id;
  await use('2026-04-12', 'r1');
  await use('2026-04-12', 'r2');
  const grantId = 'pack:o1:sprint';
  const refund = await book.correct('2026-04-13T09:00:00Z', {
    amount: -160,
    reversesEventId: bought,
    grantId,
  });
  await book.correct('2026-05-02T09:00:00Z', { amount: 70, reversesEventId: refund });
  await use('2026-05-03', 'r3');
  const undone = await book.correct('2026-05-04T09:00:00Z', { amount: 90, reversesEventId: refund });
  const restored = `adjustment:${(book.events.at(-1)!.data as { adjustmentId: string }).adjustmentId}`;
  const taken = await book.correct('2026-06-02T09:00:00Z', {
    amount: -50,
    reversesEventId: undone,
    grantId: restored,
  });
  await book.correct('2026-06-03T09:00:00Z', { amount: 50, reversesEventId: taken });
  return book;
};
