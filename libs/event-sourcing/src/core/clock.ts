/** Milliseconds since the epoch, UTC. Apart from job schedules, the service's only source of time. */
export interface Clock {
  now(): number;
}

export const systemClock: Clock = { now: () => Date.now() };

/** Elapsed time within this process: nobody sets this clock. Its instants mean nothing elsewhere. */
export const steadyClock: Clock = { now: () => performance.now() };

/** Formats an instant the only way the service writes one: RFC 3339, UTC, with milliseconds. */
export const instant = (milliseconds: number): string => new Date(milliseconds).toISOString();

/** A clock that is compared with the servers' clocks before it is used. */
export interface TrustedClock {
  /**
   * Milliseconds since the epoch, UTC, for work that time causes and for dates that money depends on.
   * @throws ClockUntrusted while the clocks differ by more than the bound
   */
  now(): number | Promise<number>;
}

/** This process's clock and the servers' clocks differ too much: nobody knows the time. The work may succeed later. */
export class ClockUntrusted extends Error {
  override readonly name = 'ClockUntrusted';
}
