/** Milliseconds since the epoch, UTC. Apart from job schedules, the service's only source of time. */
export interface Clock {
  now(): number;
}

export const systemClock: Clock = { now: () => Date.now() };

/** Elapsed time within this process: nobody sets this clock. Its instants mean nothing elsewhere. */
export const steadyClock: Clock = { now: () => performance.now() };

/** Formats an instant the only way the service writes one: RFC 3339, UTC, with milliseconds. */
export const instant = (milliseconds: number): string => new Date(milliseconds).toISOString();
