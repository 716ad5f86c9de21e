import { ClockUntrusted } from '#event-sourcing/core/clock.js';
import type { Life, Scheduler } from './scheduler.js';
import { CONFIG } from './service.js';
import type { SimulatedPostgres } from './postgres.js';

/** Maximum offset of clocks that nobody refuses (ms). */
const SKEW_MS = 90_000;
/** A process's clock is far off at its start, by a month; or it jumps while the process runs. */
const MONTH_OFF = 0.02;
const JUMPS = 0.25;
const DATABASE_JUMPS = 0.15;
/** Of the jumps, how many lead beyond the bound. */
const BEYOND = 0.3;
const DAY_MS = 86_400_000;
const BEYOND_MS = [CONFIG.CLOCK_REFUSE_MS + SKEW_MS, 40 * DAY_MS] as const;
const JUMPS_WITHIN_MS = 60_000;
/** After this time somebody sets a clock that is beyond the bound (ms). */
const SET_WITHIN_MS = [2_000, 60_000] as const;
/** How often a process compares its clock with the servers' (ms). Jumps of its own it notices at once. */
const COMPARES_MS = 5_000;

/** The clocks of the processes and of PostgreSQL. The event store's clock is that of the world. */
export class Clocks {
  /** PostgreSQL's offset as the processes know it (ms). */
  private knownSkewMs = 0;

  constructor(
    private readonly scheduler: Scheduler,
    private readonly postgres: SimulatedPostgres,
  ) {}

  /** PostgreSQL's clock is off, and may jump. */
  disturbDatabase(): void {
    const { random } = this.scheduler;
    this.setDatabase(random.between(-SKEW_MS, SKEW_MS));
    if (!random.chance(DATABASE_JUMPS)) return;
    this.later([1, JUMPS_WITHIN_MS], 'the clock of PostgreSQL jumps', () => {
      const before = this.postgres.skewMs;
      this.setDatabase(before + this.jump());
      this.later(SET_WITHIN_MS, 'the clock of PostgreSQL is set', () => this.setDatabase(before));
    });
  }

  /** The offset of a process that starts (ms). */
  firstSkewMs(): number {
    const { random, isRough } = this.scheduler;
    if (!isRough) return 0;
    return (
      random.between(-SKEW_MS, SKEW_MS) + (random.chance(MONTH_OFF) ? 31 * DAY_MS * random.pick([1, -1]) : 0)
    );
  }

  /** Plans a jump of a process's clock. */
  maybeJump(life: Life): void {
    const { random, isRough } = this.scheduler;
    if (!isRough || !random.chance(JUMPS)) return;
    this.later([1, JUMPS_WITHIN_MS], `${life.name}'s clock jumps`, () => {
      const before = life.skewMs;
      life.skewMs += this.jump();
      if (this.isRefused(life))
        this.later(SET_WITHIN_MS, `${life.name}'s clock is set`, () => (life.skewMs = before));
    });
  }

  /**
   * Sets clocks that are refused, as an operator does. While every worker has such a clock, no reading can end: no
   * trusted time is left that could date its events.
   */
  mend(lives: Iterable<Life>): void {
    if (Math.abs(this.postgres.skewMs) > SKEW_MS) this.setDatabase(0);
    this.knownSkewMs = this.postgres.skewMs;
    for (const life of lives) if (this.isRefused(life)) life.skewMs = this.postgres.skewMs;
  }

  /** What a process finds when it compares the three clocks. @throws ClockUntrusted beyond the bound */
  trustedNow(life: Life): number {
    if (this.isRefused(life))
      throw new ClockUntrusted(`${life.skewMs} ms off, PostgreSQL ${this.knownSkewMs}`);
    return this.scheduler.now + life.skewMs;
  }

  private isRefused({ skewMs }: Life): boolean {
    const offsets = [skewMs, this.knownSkewMs, skewMs - this.knownSkewMs];
    return offsets.some((offset) => Math.abs(offset) > CONFIG.CLOCK_REFUSE_MS);
  }

  /** The processes learn of it at their next comparison. */
  private setDatabase(skewMs: number): void {
    this.postgres.skewMs = skewMs;
    this.later([0, COMPARES_MS], 'the clocks are compared', () => (this.knownSkewMs = this.postgres.skewMs));
  }

  private jump(): number {
    const { random } = this.scheduler;
    if (!random.chance(BEYOND)) return random.between(-SKEW_MS, SKEW_MS);
    return random.between(...BEYOND_MS) * random.pick([1, -1]);
  }

  private later([least, most]: readonly [number, number], label: string, run: () => void): void {
    const { scheduler } = this;
    scheduler.after(scheduler.random.between(least, most), label, () => scheduler.isRough && run());
  }
}
