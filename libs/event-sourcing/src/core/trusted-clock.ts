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
