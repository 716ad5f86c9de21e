/** Attempts one worker process makes at a time in its turns. */
const IN_TURNS = 128;
/** With those that outlasted their turn: what a worker's memory and connections bear. */
const IN_ALL = 1_000;

/**
 * How many attempts a worker has under way. One that outlasts its turn leaves its place to others, or a few receivers
 * that answer late, and even well, would have them all.
 */
export class Places {
  private inTurns = 0;
  private outlasting = 0;

  /** Attempts under way in turns. */
  get taken(): number {
    return this.inTurns;
  }

  /** Attempts that may begin now. */
  get free(): number {
    return Math.min(IN_TURNS - this.inTurns, IN_ALL - this.inTurns - this.outlasting);
  }

  take(): void {
    this.inTurns += 1;
  }

  /** A turn was given back with this many attempts under way. */
  outlast(attempts: number): void {
    this.inTurns -= attempts;
    this.outlasting += attempts;
  }

  leave(hasOutlasted: boolean): void {
    if (hasOutlasted) this.outlasting -= 1;
    else this.inTurns -= 1;
  }
}
