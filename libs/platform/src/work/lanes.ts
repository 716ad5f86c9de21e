/** Too many tasks are waiting. */
export class LanesFull extends Error {
  override readonly name = 'LanesFull';
}

/**
 * Runs a limited number of tasks at a time. A limited number more wait, in order; a tenth of them may be of one caller, so
 * that nobody takes the places of all.
 */
export class Lanes {
  private busy = 0;
  private readonly waiting: { readonly whose: string | null; readonly begin: () => void }[] = [];

  constructor(
    private readonly lanes: number,
    private readonly mayWait: number,
  ) {}

  /** @param whose the caller; `null`: of nobody in particular @throws LanesFull */
  async run<T>(work: () => Promise<T>, whose: string | null = null): Promise<T> {
    const own = whose === null ? 0 : this.waiting.filter((one) => one.whose === whose).length;
    if (this.busy < this.lanes) this.busy += 1;
    else if (this.waiting.length < this.mayWait && own < this.mayWait / 10)
      await new Promise<void>((begin) => this.waiting.push({ whose, begin }));
    else throw new LanesFull();
    try {
      return await work();
    } finally {
      const next = this.waiting.shift();
      // The slot passes directly to the next task.
      if (next) next.begin();
      else this.busy -= 1;
    }
  }
}
