import { describe, expect, it } from '@jest/globals';
import type { StoredEvent } from '#event-sourcing/core/event.js';
import { linesIn, verifyExport as verifyAlone } from '../../../../tools/verify-ledger.mjs';
import { altered, eventfulBook, exportOf, rechained, renumbered } from '../../test/book.js';
import { storedInParts } from '../../test/in-parts.js';
import type { Grant } from '../contracts/events.js';
import type { ExportRange } from '../contracts/export.js';
import { BookVerifier } from './verify-book.js';

const WHOLE: ExportRange = { from: null, to: null };
const divided = async () => storedInParts((await eventfulBook()).events);
const isPart = ({ type }: StoredEvent): boolean => type === 'PeriodCarried';

/** The first finding of the verifiers of books and of exports; `null`: none. */
const findings = async (events: readonly StoredEvent[], range: ExportRange = WHOLE) => {
  const verifier = new BookVerifier(events[0]!.stream, 10_000);
  for (const event of events) verifier.see(event);
  const bytes = Buffer.from(await exportOf(events, 'jsonl', range));
  return [verifier.report(), verifyAlone(linesIn([bytes]))].map(
    ({ findings: [first] }) => first?.message ?? null,
  );
};

/** The first close of a book, its parts changed, with revisions and chain made again. */
const withParts = (
  events: readonly StoredEvent[],
  change: (parts: readonly StoredEvent[]) => readonly StoredEvent[],
): StoredEvent[] => {
  const from = events.findIndex(isPart);
  const end = events.findIndex(({ type }) => type === 'PeriodClosed');
  const parts = change(events.slice(from, end));
  return rechained(renumbered([...events.slice(0, from), ...parts, ...events.slice(end)]));
};

const withAmount = (event: StoredEvent): StoredEvent => {
  const { openGrants } = event.data as { openGrants: readonly Grant[] };
  const [first] = openGrants;
  return altered(event, { openGrants: openGrants.with(0, { ...first!, remaining: first!.remaining + 1 }) });
};

describe('a book that closes its months in parts', () => {
  it('is right, as a whole and month by month', async () => {
    const events = await divided();
    expect(events.filter(isPart).length).toBeGreaterThan(3);
    const months = ['2026-04', '2026-05', '2026-06'].map((period): ExportRange => ({ period }));
    for (const range of [WHOLE, ...months]) expect(await findings(events, range)).toEqual([null, null]);
  });

  it('is right from any event on, as far as that part of it says', async () => {
    const events = await divided();
    // A millisecond for each, so that an export can begin anywhere.
    const begin = Date.parse('2026-06-02T09:00:00.000Z');
    const spread = rechained(
      events.map((event, index) => {
        const occurredAt = new Date(begin + index).toISOString();
        return { ...event, recordedAt: begin + index, metadata: { ...event.metadata, occurredAt } };
      }),
    );
    for (const index of events.keys()) {
      const bytes = Buffer.from(await exportOf(spread, 'jsonl', { from: begin + index, to: null }));
      expect([index, verifyAlone(linesIn([bytes])).findings]).toEqual([index, []]);
    }
  });

  it.each<[string, (parts: readonly StoredEvent[]) => readonly StoredEvent[]]>([
    ['one amount is changed', (parts) => parts.with(0, withAmount(parts[0]!))],
    ['a part is dropped', (parts) => parts.toSpliced(1, 1)],
    ['the last part is dropped', (parts) => parts.toSpliced(-1, 1)],
    ['all parts are dropped', () => []],
    ['two parts are swapped', (parts) => parts.with(0, parts[1]!).with(1, parts[0]!)],
    ['a part is repeated', (parts) => parts.toSpliced(1, 0, parts[1]!)],
    ['the parts begin again', (parts) => [parts[0]!, ...parts]],
  ])('does not verify when %s under a chain that was made again', async (_, change) => {
    const changed = withParts(await divided(), change);
    for (const message of await findings(changed))
      expect(message).toMatch(/closed month|parts|does not follow from the entries/);
  });

  it('does not verify when another entry stands between the parts', async () => {
    const events = await divided();
    const [opened, , , pack] = events;
    expect(opened!.type + pack!.type).toBe('BookOpenedPackPurchased');
    const other = altered(pack!, { grantId: 'pack:o2:flex', orderRef: 'o2' });
    const changed = withParts(events, (parts) => parts.toSpliced(1, 0, other));
    for (const message of await findings(changed)) expect(message).toMatch(/stands between the parts/);
  });

  it('is right in a copied log, which has new record times', async () => {
    const recordedAt = Date.parse('2027-01-01T00:00:00.000Z');
    const copied = (await divided()).map((event) => ({ ...event, recordedAt }));
    expect(await findings(copied)).toEqual([null, null]);
  });

  it('has true dates after a first part that a wrong clock dated', async () => {
    const events = await divided();
    const from = events.findIndex(isPart);
    const end = events.findIndex(({ type }) => type === 'PeriodClosed');
    const ahead = { dated: '2026-05-01T00:00:00.000Z', recordedAt: Date.parse('2026-04-20T00:00:00.000Z') };
    const dated = rechained(
      events.slice(0, end + 1).map((event, index) => {
        if (index < from) return event;
        const occurredAt = index === from ? ahead.dated : new Date(ahead.recordedAt + index).toISOString();
        return { ...event, recordedAt: ahead.recordedAt, metadata: { ...event.metadata, occurredAt } };
      }),
    );
    const [clock, alone] = await findings(dated);
    expect(alone).toBeNull();
    expect(clock).toMatch(/^dated 2026-05-01T00:00:00.000Z, but the store recorded it/);
  });
});
