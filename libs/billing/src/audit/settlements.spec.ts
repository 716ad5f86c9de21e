import { expect, it } from '@jest/globals';
import fc from 'fast-check';
import { Settlements, type ReadingFact } from './settlements.js';

/** Facts mostly agree. */
const mostly = <T>(usual: T, other: T) =>
  fc.oneof({ weight: 9, arbitrary: fc.constant(usual) }, { weight: 1, arbitrary: fc.constant(other) });
const id = mostly('a', 'b');
const workspaceId = mostly('ws_1', 'ws_2');
const cost = mostly(20, 30);
const completed = fc.record({
  kind: fc.constant('completed' as const),
  workspaceId,
  eventId: id,
  reservationId: id,
  at: fc.nat(9),
  cost: fc.option(cost),
  requestedBy: workspaceId,
  firstPosition: fc.constant(0n),
  isExcused: fc.boolean(),
});
const captured = fc.record({
  kind: fc.constant('captured' as const),
  workspaceId,
  eventId: fc.uuid(),
  causeEventId: id,
  reservationId: id,
  amount: cost,
});
const ended = fc.record({ kind: fc.constant('ended' as const) });

const history = fc
  .array(fc.oneof({ weight: 3, arbitrary: completed }, { weight: 3, arbitrary: captured }, ended), {
    maxLength: 5,
  })
  .map((facts) =>
    facts.map((fact, index): ReadingFact => ({ ...fact, readingId: 'r1', position: BigInt(index) })),
  );

/** @param all of the log, to recall what was forgotten; `null`: nothing is forgotten */
const judged = (facts: readonly ReadingFact[], all: readonly ReadingFact[] | null = null) => {
  const settlements = all ? new Settlements() : new Settlements(null);
  for (const fact of facts) settlements.add(fact);
  for (const fact of all ?? []) if (settlements.reopened.has(fact.readingId)) settlements.recall(fact);
  const { captures, completed: completions } = settlements;
  return { ...settlements.judge(), captures, completions };
};

it('judges a reading in log order, in whatever order its facts arrive', () => {
  const orders = history.chain((facts) =>
    fc.tuple(
      fc.constant(facts),
      fc.shuffledSubarray(facts, { minLength: facts.length, maxLength: facts.length }),
    ),
  );
  fc.assert(
    fc.property(orders, ([facts, shuffled]) => {
      expect(judged(shuffled)).toEqual(judged(facts));
      expect(judged(shuffled, facts)).toEqual(judged(facts));
    }),
    { numRuns: 500 },
  );
});
