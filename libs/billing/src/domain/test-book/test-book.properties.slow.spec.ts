import assert from 'node:assert/strict';
import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { fold } from '#event-sourcing/core/decider.js';
import { encode } from '#event-sourcing/core/event-catalogue.js';
import { rounds, seedOr } from '../../../../../test/support/rounds.js';
import { TEST_CREDITS, testBookEvents, type TestBookEvent } from '../../contracts/test-book.js';
import { testCommands } from '../../../test/test-commands.js';
import { testBookViolations } from './invariants.js';
import type { TestBookCommand } from './test-book.commands.js';
import { testBook, testBookAt } from './test-book.decider.js';
import { noTestBook, testPostings } from './test-book.state.js';

const RUNS = rounds(1_000, 10_000);

/** Executes commands and drops refused ones. */
const carryOut = (sequence: readonly TestBookCommand[]): readonly TestBookEvent[] => {
  const events: TestBookEvent[] = [];
  let state = noTestBook;
  for (const command of sequence) {
    const decision = testBook.decide(command, state);
    if (decision.kind !== 'accept') continue;
    events.push(...decision.events);
    state = fold(testBook, state, decision.events);
  }
  return events;
};

const check = (property: (events: readonly TestBookEvent[]) => void): void =>
  fc.assert(
    fc.property(testCommands, (sequence) => property(carryOut(sequence))),
    { numRuns: RUNS, seed: seedOr(20261120) },
  );

describe('any sequence of commands on a test book', () => {
  it('is varied enough to reach every event, and a fill over open holds', () => {
    const reached = fc.sample(testCommands, { seed: 1, numRuns: RUNS }).flatMap(carryOut);
    expect(new Set(reached.map(({ type }) => type))).toEqual(
      new Set(Object.keys(testBookEvents.definitions)),
    );
    const overHolds = reached.filter(
      ({ type, data }) => type === 'TestBookFilled' && data.openHolds.length > 0 && data.amount > 0,
    );
    expect(overHolds.length).toBeGreaterThan(RUNS / 50);
  });

  it('keeps every invariant after every event', () => {
    check((events) => assert.deepEqual(testBookViolations(events), []));
  });

  it('moves no credit out of nowhere: the postings of all events sum to the balance', () => {
    check((events) => {
      const sums = { filled: 0, available: 0, held: 0, consumed: 0 };
      for (const event of events)
        for (const { account, amount } of testPostings(event)) sums[account] += amount;
      const { available, held, consumed } = fold(testBook, noTestBook, events);
      assert.deepEqual(sums, { filled: 0 - available - held - consumed, available, held, consumed });
    });
  });

  it('gives a full book at the first reservation of any later day, less what is held', () => {
    check((events) => {
      const book = fold(testBook, noTestBook, events);
      const { available, held } = testBookAt(book, 'ws_1', Date.parse('2031-01-01T00:00:00.000Z'));
      assert.equal(available + held, TEST_CREDITS);
    });
  });

  it('yields events that match their schemas, and folds to one state from any fill on, through JSON', () => {
    check((events) => {
      for (const { type, data } of events) encode(testBookEvents, type, data);
      const state = fold(testBook, noTestBook, events);
      const stored = JSON.parse(JSON.stringify(events)) as TestBookEvent[];
      stored.forEach(({ type }, start) => {
        if (type === 'TestBookFilled')
          assert.deepEqual(fold(testBook, noTestBook, stored.slice(start)), state);
      });
    });
  });
});
