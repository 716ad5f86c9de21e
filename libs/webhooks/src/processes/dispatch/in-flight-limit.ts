/** Attempts that one worker process makes at a time for the workspaces it has claimed. */
const CLAIMED_LIMIT = 128;
/** The same with detached attempts: what the memory and the connections of a worker allow. */
const TOTAL_LIMIT = 1_000;

/**
 * How many attempts a worker has in flight. A detached attempt does not count against the first limit, or a few
 * receivers that answer late, if at all, would use it up.
 */
export class InFlightLimit {
  private claimed = 0;
  private detached = 0;

  /** Attempts in flight for claimed workspaces. */
  get inFlight(): number {
    return this.claimed;
  }

  /** Attempts that may start now. */
  get available(): number {
    return Math.min(CLAIMED_LIMIT - this.claimed, TOTAL_LIMIT - this.claimed - this.detached);
  }

  start(): void {
    this.claimed += 1;
  }

  /** A workspace was released with this many attempts in flight. */
  detach(attempts: number): void {
    this.claimed -= attempts;
    this.detached += attempts;
  }

  end(isDetached: boolean): void {
    if (isDetached) this.detached -= 1;
    else this.claimed -= 1;
  }
}
