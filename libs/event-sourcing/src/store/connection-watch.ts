/** What one call says of the connection. Any answer counts, a refusal as well. */
export interface CallOutcome {
  readonly kind: 'read' | 'append';
  readonly answered: boolean;
  /** Milliseconds of a clock that only goes forwards. */
  readonly at: number;
}

interface Failing {
  readonly since: number;
  readonly calls: number;
}

/** What is known of one process's connection to the event store. Pure: time is an argument. */
export interface ConnectionWatch {
  /** Failures without an answer in between; `null` when the last call was answered, or none was made. */
  readonly read: Failing | null;
  readonly append: Failing | null;
  readonly lastCallAt: number;
  /** New connections made since a read (`read`) or an append (`append`) was last answered. */
  readonly renewals: Readonly<Record<CallOutcome['kind'], number>>;
  /** Reads fail although others are answered, and new connections did not help: only a new process may. */
  readonly beyondHelp: boolean;
}

export interface WatchBounds {
  /** Failing for this long without one answer, and at least three times, a kind of call is stuck. */
  readonly stuckAfterMs: number;
  /** Without any call for this long, one is made, so that something is known. */
  readonly quietMs: number;
}

const LEAST_FAILURES = 3;
/** Renewals after which a read that still fails says that the process cannot help itself. */
const RENEWALS_WORTH_TRYING = 2;
/** Between one renewal for failing appends and the next, at most 2^5 times as long. */
const LONGEST_BACKOFF = 5;

export const newWatch = (now: number): ConnectionWatch => ({
  read: null,
  append: null,
  lastCallAt: now,
  renewals: { read: 0, append: 0 },
  beyondHelp: false,
});

export const afterCall = (watch: ConnectionWatch, { kind, answered, at }: CallOutcome): ConnectionWatch => {
  if (answered) {
    const renewals = { ...watch.renewals, [kind]: 0 };
    const beyondHelp = watch.beyondHelp && kind !== 'read';
    return { ...watch, [kind]: null, lastCallAt: at, renewals, beyondHelp };
  }
  const failing = watch[kind];
  return {
    ...watch,
    [kind]: { since: failing?.since ?? at, calls: (failing?.calls ?? 0) + 1 },
    lastCallAt: at,
  };
};

/** What is stuck: reads count first, since appends fail as well when they do. */
const stuck = (
  watch: ConnectionWatch,
  now: number,
  { stuckAfterMs }: WatchBounds,
): CallOutcome['kind'] | null => {
  const isStuck = (failing: Failing | null, afterMs: number): boolean =>
    failing !== null && failing.calls >= LEAST_FAILURES && now - failing.since >= afterMs;
  if (isStuck(watch.read, stuckAfterMs)) return 'read';
  const patience = stuckAfterMs * 2 ** Math.min(watch.renewals.append, LONGEST_BACKOFF);
  return isStuck(watch.append, patience) ? 'append' : null;
};

/** What to do now: make a call to learn something, ask the store by a fresh connection, or nothing. */
export const due = (
  watch: ConnectionWatch,
  now: number,
  bounds: WatchBounds,
): 'call' | 'ask afresh' | 'nothing' => {
  if (stuck(watch, now, bounds)) return 'ask afresh';
  return now - watch.lastCallAt >= bounds.quietMs ? 'call' : 'nothing';
};

/**
 * What a fresh connection's answer says. The store away for everybody: nothing is at fault here, begin again. The store
 * there: this connection is at fault, and is renewed. Reads that fail after two renewals put the process beyond help.
 * Failing appends never do, because what keeps a store from writing cannot be told from outside.
 */
export const afterFreshAnswer = (
  watch: ConnectionWatch,
  answered: boolean,
  now: number,
  bounds: WatchBounds,
): { readonly watch: ConnectionWatch; readonly renew: boolean } => {
  const kind = stuck(watch, now, bounds);
  // Answered in the meantime.
  if (!kind) return { watch, renew: false };
  if (!answered) return { watch: newWatch(now), renew: false };
  const beyondHelp = watch.beyondHelp || (kind === 'read' && watch.renewals.read >= RENEWALS_WORTH_TRYING);
  const renewals = { ...watch.renewals, [kind]: watch.renewals[kind] + 1 };
  return { watch: { ...watch, read: null, append: null, renewals, beyondHelp }, renew: true };
};
