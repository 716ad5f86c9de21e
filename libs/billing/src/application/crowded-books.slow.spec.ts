import { beforeAll, expect, it } from '@jest/globals';
import type { EventToAppend, StoredEvent } from '#event-sourcing/core/event.js';
import { CHAIN_START, chainedFacts, nextChain } from '#event-sourcing/core/hash-chain.js';
import type { ExpectedRevision } from '#event-sourcing/store/event-store.js';
import { InMemoryEventStore } from '#event-sourcing/testing/in-memory-event-store.js';
import { rounds } from '../../../../test/support/rounds.js';
import { storeAll, STREAM, verifierOf, WS } from '../../test/book.js';
import { packPurchased, reserved } from '../../test/events.js';
import { creditsEvents, type CreditsEvent, type CreditsEventOf } from '../contracts/events.js';
import { createCreditsExecutor } from '../executors.js';
import { CreditBooks } from './credit-books.js';

const HOLDS = rounds(5_000, 20_000);
const OPENED = '2026-04-10T12:00:00.000Z';
const BY = { actor: 'system:crowd', correlationId: 'crowd', causationId: 'crowd' };
const COST = 20;
/** Readings that a pack of 2,000 credits pays for. */
const READINGS = 100;

/** A store that fails once, after so many appends. */
class FailingStore extends InMemoryEventStore {
  left = Infinity;

  override append(stream: string, expected: ExpectedRevision, events: readonly EventToAppend[]) {
    this.left -= 1;
    if (this.left === -1) throw new Error('the process was killed');
    return super.append(stream, expected, events);
  }
}
const store = new FailingStore();
let now = Date.parse(OPENED);
let entries: number;
let stored: number;

const uuid = (index: number): string => `4f1c2e9d-6a4c-5f8e-8b5a-7d9c2f${String(index).padStart(6, '0')}`;

/** A book with thousands of open holds. */
const crowdedBook = (): StoredEvent[] => {
  const events: CreditsEvent[] = [
    { type: 'BookOpened', data: { workspaceId: WS, period: '2026-04' } },
    ...Array.from({ length: HOLDS / READINGS }, (_, index) => packPurchased('burst', `o${index}`)),
    ...Array.from({ length: HOLDS }, (_, index) =>
      reserved(uuid(index), [`pack:o${Math.floor(index / READINGS)}:burst`, COST]),
    ),
  ];
  let chain = CHAIN_START;
  return events.map((event, index) => {
    const { version: schemaVersion } = creditsEvents.definitions[event.type];
    const metadata = { ...BY, workspaceId: WS, occurredAt: OPENED, schemaVersion };
    const place = { stream: STREAM, revision: BigInt(index), position: BigInt(index) };
    const one = { id: `entry-${index}`, ...place, ...event, metadata };
    chain = nextChain(chain, chainedFacts(one));
    return { ...one, metadata: { ...metadata, chain } };
  });
};

/** Another process, which has nothing in memory, captures a reading: what is due comes first. */
const capture = (index: number) => {
  const settled = { reservationId: uuid(index), causeEventId: `end of ${index}` };
  return new CreditBooks(createCreditsExecutor(store, 10_000), { now: () => now }).execute(
    WS,
    (time) => ({ type: 'CaptureCredits', ...settled, now: time }),
    `capture:${index}`,
    BY,
  );
};

beforeAll(async () => {
  await storeAll(store, crowdedBook());
  entries = store.log.length;
  now = Date.parse('2026-05-01T00:00:01.000Z');
  // The first process ends after an append of parts.
  store.left = 1;
  await expect(capture(7)).rejects.toThrow('the process was killed');
  stored = store.log.length;
  await capture(7);
});

it('A book with thousands of open holds closes its month, in parts, before the next command', () => {
  const close = store.log.slice(entries, -1);
  const parts = close.slice(0, -1) as unknown as CreditsEventOf<'PeriodCarried'>[];
  expect(new Set(parts.map(({ type }) => type))).toEqual(new Set(['PeriodCarried']));
  // The second process continued after the parts that were stored.
  expect(stored - entries).toBeGreaterThan(1);
  expect(parts.map(({ data }) => data.part)).toEqual([...parts.keys()]);
  expect(parts.flatMap(({ data }) => data.openHolds)).toHaveLength(HOLDS);
  expect(close.at(-1)).toMatchObject({
    type: 'PeriodClosed',
    data: { period: '2026-04', openHolds: [], carried: { parts: parts.length } },
  });
  expect(store.log.at(-1)!.type).toBe('CreditsCaptured');
});

it('Several processes close the next month together, each part once', async () => {
  const before = store.log.length;
  now = Date.parse('2026-06-01T00:00:01.000Z');
  await Promise.all([8, 9, 10].map(capture));
  const close = store.log.slice(before).filter(({ type }) => type !== 'CreditsCaptured');
  expect(close.length).toBe(store.log.length - before - 3);
  expect(close.at(-1)).toMatchObject({ data: { period: '2026-05', carried: { parts: close.length - 1 } } });
  expect(verifierOf(store.log).report().findings).toEqual([]);
});
