/** Too many tasks are waiting. */
export class LanesFull extends Error {
  override readonly name = 'LanesFull';
}

/** Runs a limited number of tasks at a time. A limited number more wait, in order. */
export class Lanes {
  private busy = 0;
  private readonly waiting: (() => void)[] = [];

  constructor(
    private readonly lanes: number,
    private readonly mayWait: number,
  ) {}

  /** @throws LanesFull */
  async run<T>(work: () => Promise<T>): Promise<T> {
    if (this.busy < this.lanes) this.busy += 1;
    else if (this.waiting.length < this.mayWait) await new Promise<void>((begin) => this.waiting.push(begin));
    else throw new LanesFull();
    try {
      return await work();
    } finally {
      const next = this.waiting.shift();
      // The slot passes directly to the next task.
      if (next) next();
      else this.busy -= 1;
    }
  }
}
