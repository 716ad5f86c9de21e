import type { Decision, Rejection } from './decision.js';
import type { DomainEvent } from './event.js';

/**
 * The behaviour of one kind of stream: two pure functions and an initial state. Time, ids and randomness arrive in
 * the command.
 */
export interface Decider<Command, E extends DomainEvent, State, R extends Rejection = Rejection> {
  readonly initialState: State;
  readonly decide: (command: Command, state: State) => Decision<E, R>;
  readonly evolve: (state: State, event: E) => State;
}

export const fold = <E extends DomainEvent, State>(
  decider: Pick<Decider<never, E, State>, 'evolve'>,
  state: State,
  events: readonly E[],
): State => events.reduce((current, event) => decider.evolve(current, event), state);
