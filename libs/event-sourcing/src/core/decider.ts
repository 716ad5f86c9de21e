import type { DomainEvent } from './event.js';

export interface Rejection<Code extends string = string, Details = unknown> {
  readonly code: Code;
  readonly details: Details;
}

/** The result of a decider. A refusal is a value; an exception is a bug. */
export type Decision<E extends DomainEvent, R extends Rejection = Rejection> =
  | { readonly kind: 'accept'; readonly events: readonly E[] }
  | { readonly kind: 'ignore'; readonly reason: string }
  | ({ readonly kind: 'reject' } & R);

export const accept = <E extends DomainEvent>(...events: readonly E[]): Decision<E, never> => ({
  kind: 'accept',
  events,
});

/** Accepts the command without events: it was already handled, or no longer applies. */
export const ignore = (reason: string): Decision<never, never> => ({ kind: 'ignore', reason });

export const reject = <Code extends string, Details>(
  code: Code,
  details: Details,
): { kind: 'reject'; code: Code; details: Details } => ({ kind: 'reject', code, details });

/** Ends a switch over a union: a missing case does not compile. An impossible one throws TypeError with its type. */
export const assertNever = (value: never): never => {
  const type = (value as { type?: unknown }).type;
  throw new TypeError(`Unhandled case ${typeof type === 'string' ? type : String(value)}`);
};

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
