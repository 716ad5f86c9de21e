/** Milliseconds since the epoch, UTC. The only way time enters the service besides jobs' own schedules. */
export interface Clock {
  now(): number;
}

export const systemClock: Clock = { now: () => Date.now() };

/** RFC 3339, UTC, milliseconds: the one written form of an instant. */
export const instant = (milliseconds: number): string => new Date(milliseconds).toISOString();
