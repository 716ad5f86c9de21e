/** What one call shows about the connection. Any answer counts, also a refusal. */
export interface CallOutcome {
  readonly kind: 'read' | 'append';
  readonly answered: boolean;
  /** Milliseconds of a monotonic clock. */
  readonly at: number;
}

interface Failing {
  readonly since: number;
  readonly calls: number;
}

/** The state of one process's connection to the event store. Pure: time is an argument. */
export interface ConnectionWatch {
  /** Consecutive failures; `null` when the last call got an answer, or there was none. */
  readonly read: Failing | null;
  readonly append: Failing | null;
  readonly lastCallAt: number;
  /** New connections since the last answered read (`read`) or append (`append`). */
  readonly renewals: Readonly<Record<CallOutcome['kind'], number>>;
  /** Reads fail although the store answers others, and new connections did not help: only a new process may. */
  readonly beyondHelp: boolean;
}

export interface WatchBounds {
  /** A kind of call is stuck when it fails for this long without an answer, and at least three times. */
  readonly stuckAfterMs: number;
  /** After this long without a call, the watch makes one. */
  readonly quietMs: number;
}

export const LEAST_FAILURES = 3;
/** If reads still fail after this many renewals, the process cannot help itself. */
const RENEWALS_WORTH_TRYING = 2;
/** The interval between renewals for failing appends grows to at most 2^5 times the first. */
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
    // The same outage failed the appends: that says nothing about the connection now.
    const isOutageOver = kind === 'read' && (watch.read?.calls ?? 0) >= LEAST_FAILURES;
    const append = isOutageOver ? null : watch.append;
    return { ...watch, append, [kind]: null, lastCallAt: at, renewals, beyondHelp };
  }
  const failing = watch[kind];
  return {
    ...watch,
    [kind]: { since: failing?.since ?? at, calls: (failing?.calls ?? 0) + 1 },
    lastCallAt: at,
  };
};

/** What is stuck. Reads count first, because appends fail too when reads do. */
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

/** The next step: make a call, ask the store over a fresh connection, or do nothing. */
export const due = (
  watch: ConnectionWatch,
  now: number,
  bounds: WatchBounds,
): 'call' | 'ask afresh' | 'nothing' => {
  if (stuck(watch, now, bounds)) return 'ask afresh';
  return now - watch.lastCallAt >= bounds.quietMs ? 'call' : 'nothing';
};

/**
 * Judges the answer over a fresh connection. Without an answer, the store is down for everybody: the watch starts again.
 * With an answer, this connection is broken and gets renewed. If reads fail after two renewals, the process is beyond
 * help. Failing appends never lead there, because a client cannot see why a store does not write.
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
