import { setTimeout as delay } from 'node:timers/promises';

/** After a conflict, or after events of others were read. */
const EXPECT_RIVALS_MS = 5_000;
const TURNS_BETWEEN_PAUSES = 16;
const LONGEST_TURN_MS = 50;

/**
 * How a process behaves towards others that write the same stream. One that never pauses would win every append of a
 * hot stream, since it need not read what it wrote itself. While others write there too, each waits about as long as a
 * turn (a read and an append) of another takes, so that all get on; and to learn of others at all, it pauses now and
 * then.
 */
export class Turns {
  private contendedUntil = 0;
  private turnMs = 5;
  private startedAt = 0;
  private count = 0;

  /** @returns whether others write there, so that it is worth reading before deciding */
  async await(): Promise<boolean> {
    const contended = performance.now() < this.contendedUntil;
    this.count += 1;
    if (contended) await delay(Math.random() * 2 * this.turnMs);
    else if (this.count % TURNS_BETWEEN_PAUSES === 0) await delay(3 * this.turnMs);
    return contended;
  }

  begin(): void {
    this.startedAt = performance.now();
  }

  /** An append succeeded. */
  end(): void {
    this.turnMs = Math.min(LONGEST_TURN_MS, performance.now() - this.startedAt);
  }

  sawRivals(): void {
    this.contendedUntil = performance.now() + EXPECT_RIVALS_MS;
  }
}
