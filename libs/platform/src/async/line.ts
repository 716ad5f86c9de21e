/** Too many wait in a line already: a moment later there may be room. */
export class LineFull extends Error {
  override readonly name = 'LineFull';
}

/**
 * Work that is done one after another, in the order of asking. Neither all who wait nor the work of one asker may grow
 * without bound.
 */
export class Line {
  private last: Promise<unknown> = Promise.resolve();
  private readonly unfinished = new Map<string, number>();
  private length = 0;

  /**
   * @param most pieces of work under way or waiting
   * @param mostOfOne of these, of one asker
   */
  constructor(
    private readonly most: number,
    private readonly mostOfOne: number,
  ) {}

  /** Whether nothing is under way or waiting. */
  get isEmpty(): boolean {
    return this.length === 0;
  }

  /** @throws LineFull at once, without a wait */
  async run<T>(asker: string, work: () => Promise<T>): Promise<T> {
    const own = this.unfinished.get(asker) ?? 0;
    if (this.length >= this.most || own >= this.mostOfOne) throw new LineFull();
    this.unfinished.set(asker, own + 1);
    this.length += 1;
    const mine = this.last.then(work);
    this.last = mine.catch(() => undefined);
    try {
      return await mine;
    } finally {
      this.length -= 1;
      const left = this.unfinished.get(asker)! - 1;
      if (left === 0) this.unfinished.delete(asker);
      else this.unfinished.set(asker, left);
    }
  }
}
