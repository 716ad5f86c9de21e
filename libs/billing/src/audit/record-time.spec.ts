import { beforeEach, expect, it } from '@jest/globals';
import type { StoredEvent } from '#event-sourcing/core/event.js';
import { adjustment } from '../../test/adjustment.js';
import { exportOf, openedBook } from '../../test/book.js';
import { balanceAsOf } from './balance-as-of.js';

const END = Date.parse('2026-04-20T00:00:00Z');
let events: readonly StoredEvent[];

/** 100 credits dated 40 days ahead, then 7 with their true date. */
beforeEach(async () => {
  const book = await openedBook();
  await book.do('2026-04-11T12:00:00Z', adjustment({ adjustmentId: 'a1', amount: 100 }));
  await book.do('2026-04-12T12:00:00Z', adjustment({ adjustmentId: 'a2', amount: 7 }));
  events = book.events.map((event, n) => {
    const recordedAt = Date.parse(event.metadata.occurredAt);
    const metadata = { ...event.metadata, occurredAt: '2026-05-21T12:00:00.000Z' };
    return n === 1 ? { ...event, recordedAt, metadata } : { ...event, recordedAt };
  });
});

it('A date in the future hides neither its entry nor later ones from the balance at an instant', async () => {
  async function* stored() {
    yield* events;
  }
  expect(await balanceAsOf(stored(), { instant: END }, 10_000)).toMatchObject({ available: 107 });
  const before = Date.parse('2026-04-11T00:00:00Z');
  expect(await balanceAsOf(stored(), { instant: before }, 10_000)).toMatchObject({ available: 0 });
});

it('A date in the future does not end an export up to an instant', async () => {
  const text = await exportOf(events, 'jsonl', { from: null, to: END });
  expect(JSON.parse(text.trimEnd().split('\n').at(-1)!)).toMatchObject({ events: 3, headRevision: '2' });
});
