import assert from 'node:assert/strict';
import { expect, it } from '@jest/globals';
import fc from 'fast-check';
import type { StoredEvent } from '#event-sourcing/core/event.js';
import { InMemoryEventStore } from '#event-sourcing/testing/in-memory-event-store.js';
import { rounds, seedOr } from '../../../../test/support/rounds.js';
import { commands } from '../../test/commands.js';
import type { CreditsEvent } from '../contracts/events.js';
import { createCreditsExecutor, createTestBookExecutor } from '../executors.js';
import type { CreditsCommand } from '../domain/credits.commands.js';
import { postings } from '../domain/postings.js';
import { violations } from '../domain/invariants.js';
import { TEST_CREDITS } from '../domain/test-credits.js';
import { CreditBooks, TestBooks } from './credit-books.js';

const WS = 'ws_1';
const BY = { actor: 'apiKey:k1', correlationId: 'correlation', causationId: 'cause' };
const BEYOND_ALL_CLOCKS_MS = 400 * 86_400_000;

/** What readings cause in a book of either mode. */
const testCommands = commands.map((all) => all.filter(({ type }) => /^(Reserve|Capture|Release)/.test(type)));

type Step = { readonly live: CreditsCommand } | { readonly test: CreditsCommand };

/** Carries the steps out in one process on one store, in this order. @returns the streams of both books, as stored */
const booksAfter = async (steps: readonly Step[]): Promise<Readonly<Record<'live' | 'test', string>>> => {
  const store = new InMemoryEventStore();
  let now = 0;
  const clock = { now: () => now };
  const books = new CreditBooks(createCreditsExecutor(store, BEYOND_ALL_CLOCKS_MS), clock);
  const testBooks = new TestBooks(createTestBookExecutor(store, BEYOND_ALL_CLOCKS_MS), clock);
  const counts = { live: 0, test: 0 };
  now = Date.parse('2026-01-29T08:00:00.000Z');
  await books.execute(WS, (at) => ({ type: 'OpenBook', workspaceId: WS, now: at }), 'open', BY);
  for (const step of steps) {
    if ('live' in step) {
      now = step.live.now;
      await books.execute(WS, () => step.live, `live:${(counts.live += 1)}`, BY);
    } else {
      now = step.test.now;
      await testBooks.execute(WS, () => step.test, `test:${(counts.test += 1)}`, BY);
    }
  }
  const of = (stream: string): string =>
    JSON.stringify(store.log.filter((event) => event.stream === stream).map(withoutPosition));
  return { live: of(`credits-${WS}`), test: of(`testbook-${WS}`) };
};

/** The place in the log depends on the other streams; nothing else may. */
const withoutPosition = ({ position: _, revision, ...event }: StoredEvent): object => ({
  ...event,
  revision: String(revision),
});

/** Two sequences in one: `true` takes the next live command. */
const interleaved = (
  live: readonly CreditsCommand[],
  test: readonly CreditsCommand[],
  picks: readonly boolean[],
): readonly Step[] => {
  const [lives, tests] = [live.map((one) => ({ live: one })), test.map((one) => ({ test: one }))];
  const steps: Step[] = [];
  for (const isLive of picks) steps.push(...(isLive ? lives : tests).splice(0, 1));
  return [...steps, ...lives, ...tests];
};

/** The most credits that a book ever had, available and held. */
const mostIn = (events: readonly CreditsEvent[]): number => {
  let [sum, most] = [0, 0];
  for (const { account, amount } of events.flatMap(postings)) {
    if (account === 'available' || account === 'held') sum += amount;
    most = Math.max(most, sum);
  }
  return most;
};

it('leaves each book byte by byte what it is without the commands of the other mode', async () => {
  const reached: string[] = [];
  await fc.assert(
    fc.asyncProperty(
      commands,
      testCommands,
      fc.array(fc.boolean(), { minLength: 20, maxLength: 80 }),
      async (live, test, picks) => {
        const both = await booksAfter(interleaved(live, test, picks));
        const alone = await booksAfter(live.map((one) => ({ live: one })));
        const testAlone = await booksAfter(test.map((one) => ({ test: one })));
        assert.equal(both.live, alone.live);
        assert.equal(both.test, testAlone.test);
        const events = JSON.parse(both.test) as readonly CreditsEvent[];
        assert.deepEqual(violations(events), []);
        assert.ok(mostIn(events) <= TEST_CREDITS);
        reached.push(...events.map(({ type }) => type));
      },
    ),
    { numRuns: rounds(200, 10_000), seed: seedOr(20261120) },
  );
  const types = [
    'BookOpened',
    'CreditsAdjusted',
    'CreditsReserved',
    'CreditsCaptured',
    'CreditsReleased',
    'PeriodClosed',
  ];
  expect([...new Set(reached)].toSorted()).toEqual(types.toSorted());
});
