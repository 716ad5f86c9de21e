/** So much of a second may be sent at once, since a worker looks only now and then. */
const BURST_MS = 50;
/** Spaces the deliveries of one endpoint evenly (the generic cell rate algorithm). Times in milliseconds. */
export class EndpointPace {
  private readonly spacingMs: number;
  /** When the next delivery would be sent at an even pace. */
  private evenAt: number;

  /** @param perSecond deliveries @param nextAt nothing is sent before */
  constructor(perSecond: number, nextAt: number) {
    this.spacingMs = 1_000 / perSecond;
    this.evenAt = nextAt + this.burstMs;
  }

  private get burstMs(): number {
    return Math.max(0, BURST_MS - this.spacingMs);
  }

  /** From then on the next delivery may be sent. */
  get nextAt(): number {
    return this.evenAt - this.burstMs;
  }

  allows(now: number): boolean {
    return now >= this.nextAt;
  }

  /** It owes nothing any more: a new pace would allow no more than this one. */
  isRested(now: number): boolean {
    return now >= this.evenAt;
  }

  /** A delivery is sent. */
  take(now: number): void {
    this.evenAt = Math.max(this.evenAt, now) + this.spacingMs;
  }
}
