import { beforeAll, expect, it } from '@jest/globals';
import type { StoredEvent } from '#event-sourcing/core/event.js';
import { linesIn, verifyExport as verifyAlone } from '../../../../tools/verify-ledger.mjs';
import { rounds } from '../../../../test/support/rounds.js';
import { exportOf, verifierOf } from '../../test/book.js';
import { CrowdedBook } from '../../test/crowded-book.js';
import type { CreditsEventOf } from '../contracts/events.js';

const HOLDS = rounds(5_000, 20_000);
let book: CrowdedBook;
let entries: number;
let stored: number;

const types = (events: readonly StoredEvent[]) => new Set(events.map(({ type }) => type));
const isPart = ({ type }: StoredEvent): boolean => type === 'PeriodCarried';

/** What the auditor's file finds. */
const findings = async (period: string | null) => {
  const bytes = Buffer.from(await exportOf(book.events, 'jsonl', period));
  return verifyAlone(linesIn([bytes])).findings;
};

beforeAll(async () => {
  book = await CrowdedBook.with(HOLDS);
  entries = book.events.length;
  book.now = Date.parse('2026-05-01T00:00:01.000Z');
  // The first process ends after an append of parts.
  book.store.failingAppend = book.store.appends + 2;
  await expect(book.process().due()).rejects.toThrow('the process was killed');
  stored = book.events.length;
  await book.process().capture(7);
});

it('A book with thousands of open holds closes its month, in parts, before the next command', () => {
  const close = book.events.slice(entries, -1);
  expect(types(close.slice(0, -1))).toEqual(new Set(['PeriodCarried']));
  expect(close.at(-1)).toMatchObject({
    type: 'PeriodClosed',
    data: { period: '2026-04', openHolds: [], carried: { parts: close.length - 1 } },
  });
  expect(book.events.at(-1)!.type).toBe('CreditsCaptured');
});

it('Another process continues after the parts that are stored', () => {
  expect(stored - entries).toBeGreaterThan(1);
  const parts = book.events.filter(isPart) as unknown as CreditsEventOf<'PeriodCarried'>[];
  expect(parts.map(({ data }) => data.part)).toEqual([...parts.keys()]);
  expect(parts.flatMap(({ data }) => data.openHolds)).toHaveLength(HOLDS);
});

it('The auditor’s file finds its exports right, of the whole book and of the month that begins with the parts', async () => {
  expect(await findings(null)).toEqual([]);
  expect(await findings('2026-05')).toEqual([]);
});

it('Several processes close the next month together, each part once', async () => {
  const before = book.events.length;
  book.now = Date.parse('2026-06-01T00:00:01.000Z');
  await Promise.all([8, 9, 10].map((index) => book.process().capture(index)));
  const close = book.events.slice(before).filter(({ type }) => type !== 'CreditsCaptured');
  expect(close.length).toBe(book.events.length - before - 3);
  expect(close.at(-1)).toMatchObject({ data: { period: '2026-05', carried: { parts: close.length - 1 } } });
  expect(verifierOf(book.events).report().findings).toEqual([]);
});
