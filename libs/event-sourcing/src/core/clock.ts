/** Milliseconds since the epoch, UTC. Apart from job schedules, the service's only source of time. */
export interface Clock {
  now(): number;
}

export const systemClock: Clock = { now: () => Date.now() };

/** Formats an instant the only way the service writes one: RFC 3339, UTC, with milliseconds. */
export const instant = (milliseconds: number): string => new Date(milliseconds).toISOString();
