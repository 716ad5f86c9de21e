/** The pause after a conflict, or after reading events of other writers. */
const EXPECT_RIVALS_MS = 5_000;
/** Appends between two pauses of a process that has met no others. */
const BETWEEN_PAUSES = 32;
const LONGEST_APPEND_MS = 50;
/** The time of an append is averaged over about as many. */
const APPENDS_AVERAGED = 8;

/** What to do before an append. */
export interface Approach {
  /** Others write to the stream: read before deciding. */
  readonly contended: boolean;
  /** Milliseconds to wait. */
  readonly pauseMs: number;
}

/**
 * Paces the appends of a process to a stream that other processes write too. A process that never pauses would win every
 * append to a hot stream, because it need not read what it wrote itself. While others write, each process waits about as
 * long as a read and an append of another take, so that all make progress. To notice others at all, it pauses
 * sometimes for as long as a read and an append take. A rival that has just lost tries again at once, or nearly so, and one
 * of its tries begins and ends within that pause.
 */
export class AppendPacing {
  private contendedUntil = 0;
  private appendMs = 5;
  private startedAt = 0;
  private sincePause = 0;

  approach(): Approach {
    if (performance.now() < this.contendedUntil)
      return { contended: true, pauseMs: this.turnMs * Math.random() };
    this.sincePause += 1;
    if (this.sincePause < BETWEEN_PAUSES) return { contended: false, pauseMs: 0 };
    this.sincePause = 0;
    return { contended: false, pauseMs: this.turnMs };
  }

  /**
   * Milliseconds before the next try after a conflict. Every other try goes at once: a single node answers a conflict
   * when the rival's append is durable, and so before the rival's next one. The others are spread, so that rivals part.
   * @param attempt from 1
   */
  pauseAfterConflict(attempt: number): number {
    return attempt % 2 === 1 ? 0 : this.turnMs * Math.random();
  }

  begin(): void {
    this.startedAt = performance.now();
  }

  /** An append succeeded. */
  end(): void {
    const took = Math.min(LONGEST_APPEND_MS, performance.now() - this.startedAt);
    this.appendMs += (took - this.appendMs) / APPENDS_AVERAGED;
  }

  sawRivals(): void {
    this.contendedUntil = performance.now() + EXPECT_RIVALS_MS;
  }

  /** What a read and an append of another process take, if they take as long as ours. */
  private get turnMs(): number {
    return 2 * this.appendMs;
  }
}
