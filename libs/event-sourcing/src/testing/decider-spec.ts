import assert from 'node:assert/strict';
import { fold, type Decider, type Rejection } from '../core/decider.js';
import type { DomainEvent } from '../core/event.js';

/**
 * `given(decider, [events]).when(command).then(event)` specifies a decider in one sentence. Compares data deeply and
 * strictly; throws AssertionError.
 */
export const given = <C, E extends DomainEvent, S, R extends Rejection>(
  decider: Decider<C, E, S, R>,
  history: readonly E[],
) => {
  const state = fold(decider, decider.initialState, history);
  return {
    when(command: C) {
      const decision = decider.decide(command, state);
      return {
        then: (...events: readonly E[]): void =>
          assert.deepStrictEqual(decision, { kind: 'accept', events: [...events] }),
        thenTypes: (...types: readonly E['type'][]): void => {
          assert.equal(decision.kind, 'accept');
          assert.deepStrictEqual(decision.kind === 'accept' && decision.events.map(({ type }) => type), [
            ...types,
          ]);
        },
        thenIgnores: (reason: string): void => assert.deepStrictEqual(decision, { kind: 'ignore', reason }),
        thenRejects: (code: R['code'], details?: R['details']): void => {
          assert.equal(decision.kind, 'reject');
          if (decision.kind !== 'reject') return;
          assert.equal(decision.code, code);
          if (details !== undefined) assert.deepStrictEqual(decision.details, details);
        },
      };
    },
    state,
  };
};
