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

  get isIdle(): boolean {
    return this.busy === 0;
  }
}

/** A line for each asker: its work is done one after another, in the order of asking, beside that of others. */
export class Lines {
  private readonly lines = new Map<string, Lanes>();

  /** @param most pieces of work of one asker, under way or waiting */
  constructor(private readonly most: number) {}

  /** @throws LanesFull at once, without a wait: a moment later there may be room */
  async run<T>(asker: string, work: () => Promise<T>): Promise<T> {
    const line = this.lines.get(asker) ?? new Lanes(1, this.most - 1);
    this.lines.set(asker, line);
    try {
      return await line.run(work);
    } finally {
      if (line.isIdle) this.lines.delete(asker);
    }
  }
}
