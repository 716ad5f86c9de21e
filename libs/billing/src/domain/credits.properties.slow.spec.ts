import assert from 'node:assert/strict';
import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { fold } from '#event-sourcing/core/decider.js';
import { encode } from '#event-sourcing/core/event-catalogue.js';
import { creditsEvents, type CreditsEvent } from '../contracts/events.js';
import { type CreditsCommand, credits } from './credits.decider.js';
import { isSettled, noBook, type Credits } from './credits.state.js';
import { dueBy } from './due.js';
import { violations } from '../../test/violations.js';
import { inParts } from '../../test/in-parts.js';
import { commands } from '../../test/commands.js';
import {
  at,
  bookOpened,
  captured,
  packPurchased,
  planGranted,
  released,
  reserved,
} from '../../test/events.js';
import { rounds, seedOr } from '../../../../test/support/rounds.js';

const DRAWN = { numRuns: rounds(1_000, 10_000), seed: seedOr(20261120) };

/**
 * Executes commands and drops refused ones. Like a request, which reads its reading first, it never repeats a
 * reservation that the book has already forgotten.
 */
const carryOut = (
  sequence: readonly CreditsCommand[],
  history: readonly CreditsEvent[] = [bookOpened('2026-01')],
) => {
  const events = [...history];
  let state = fold(credits, noBook, events);
  for (const command of sequence) {
    if (asksForForgotten(command, events, state)) continue;
    const decision = credits.decide(command, state);
    if (decision.kind !== 'accept') continue;
    events.push(...decision.events);
    state = fold(credits, state, decision.events);
  }
  return { events, state };
};

const asksForForgotten = (
  command: CreditsCommand,
  events: readonly CreditsEvent[],
  state: Credits,
): boolean =>
  command.type === 'ReserveCredits' &&
  command.reservations.some(
    ({ reservationId }) =>
      !isSettled(dueBy(state, command.now).state, reservationId) &&
      events.some((event) => isSettlementOf(event, reservationId)),
  );

const check = (property: (sequence: CreditsCommand[]) => void): void =>
  fc.assert(fc.property(commands, property), DRAWN);

describe('any sequence of commands', () => {
  it('keeps every invariant after every event, and yields events that match their schemas', () => {
    const reached = new Set<string>();
    check((sequence) => {
      const { events } = carryOut(sequence);
      assert.deepEqual(violations(events), []);
      for (const { type, data } of events) {
        encode(creditsEvents, type, data);
        reached.add(type);
      }
    });
    expect(new Set([...reached, 'PeriodCarried'])).toEqual(new Set(Object.keys(creditsEvents.definitions)));
  });

  it('keeps them also when each month is closed in parts, and then folds to one state from any close on', () => {
    const property = fc.property(commands, (sequence) => {
      const events = inParts(carryOut(sequence).events).flat();
      assert.deepEqual(violations(events), []);
      const state = fold(credits, noBook, events);
      events.forEach(({ type, data }, start) => {
        if (type === 'PeriodCarried' && data.part === 0)
          assert.deepEqual(fold(credits, noBook, events.slice(start)), state);
      });
    });
    fc.assert(property, { ...DRAWN, numRuns: rounds(200, 10_000) });
  });

  it('folds to one state: in two parts, from any closed month on, and through JSON', () => {
    fc.assert(
      fc.property(commands, fc.nat(), (sequence, cut) => {
        const { events, state } = carryOut(sequence);
        const index = cut % (events.length + 1);
        const prefix = fold(credits, noBook, events.slice(0, index));
        assert.deepEqual(fold(credits, prefix, events.slice(index)), state);
        events.forEach(({ type }, closed) => {
          if (type !== 'PeriodClosed') return;
          const stored = JSON.parse(JSON.stringify(events.slice(closed))) as CreditsEvent[];
          assert.deepEqual(fold(credits, noBook, stored), state);
        });
      }),
      DRAWN,
    );
  });
});

describe('settlements', () => {
  it('change nothing when they are repeated, in any order', () => {
    fc.assert(
      fc.property(commands, fc.infiniteStream(fc.nat()), (sequence, picks) => {
        const { events, state } = carryOut(sequence);
        const last = sequence.at(-1)?.now ?? at('2026-01-29');
        const repeated = sequence
          .filter((command) => command.type === 'CaptureCredits' || command.type === 'ReleaseCredits')
          .filter(({ reservationId }) => events.some((event) => isSettlementOf(event, reservationId)))
          .map((command) => ({ ...command, now: last }));
        const shuffled = repeated
          .map((command) => ({ command, order: picks.next().value as number }))
          .sort((a, b) => a.order - b.order)
          .flatMap(({ command }) => [command, command]);
        assert.deepEqual(carryOut(shuffled, events).state, state);
      }),
      DRAWN,
    );
  });
});

const isSettlementOf = ({ type, data }: CreditsEvent, reservationId: string): boolean =>
  (type === 'CreditsCaptured' || type === 'CreditsReleased') && data.reservationId === reservationId;

describe('the invariants', () => {
  const grant = packPurchased('flex', 'o1');
  const hold = reserved('r1', ['pack:o1:flex', 20]);
  const broken: Record<string, [CreditsEvent[], string]> = {
    'negative credits': [[reserved('r1', ['pack:o1:flex', 20])], 'credits are negative'],
    'a grant that gives more than it has': [
      [grant, reserved('r1', ['pack:o1:flex', 60])],
      'a grant is out of its bounds',
    ],
    'allocations that do not add up': [
      [grant, { ...hold, data: { ...hold.data, allocations: [{ grantId: 'pack:o1:flex', amount: 19 }] } }],
      'allocations do not sum to the amount',
    ],
    'a second settlement': [[grant, hold, captured('r1'), captured('r1')], 'a reservation settled twice'],
    'a second hold of one reservation': [[grant, hold, hold], 'a reservation is held twice'],
    'a hold of a reservation that settled': [
      [grant, hold, captured('r1'), hold],
      'a reservation is held twice',
    ],
    'a settlement of nothing': [[grant, captured('r9')], 'a reservation settles without a hold'],
    'a settlement of less than was held': [
      [grant, hold, captured('r1', 10)],
      'the settled amount is not the held amount',
    ],
    'a release to a grant that never gave': [
      [
        grant,
        planGranted('studio', '2026-01-05', '2026-02-05'),
        hold,
        released('r1', ['plan:sub1:2026-01', 20, 'available']),
      ],
      'a grant is out of its bounds',
    ],
  };
  for (const [name, [events, sentence]] of Object.entries(broken)) {
    it(`report ${name}`, () => {
      expect(violations([bookOpened('2026-01'), ...events]).join('\n')).toContain(sentence);
    });
  }
});
