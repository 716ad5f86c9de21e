/** Too much waits in a line already: a moment later there may be room. */
export class LineFull extends Error {
  override readonly name = 'LineFull';
}

/** A line for each asker: its work is done one after another, in the order of asking, beside that of others. */
export class Lines {
  private readonly lines = new Map<string, { last: Promise<unknown>; length: number }>();

  /** @param most pieces of work of one asker, under way or waiting */
  constructor(private readonly most: number) {}

  /** @throws LineFull at once, without a wait */
  async run<T>(asker: string, work: () => Promise<T>): Promise<T> {
    const line = this.lines.get(asker) ?? { last: Promise.resolve(), length: 0 };
    if (line.length >= this.most) throw new LineFull();
    this.lines.set(asker, line);
    line.length += 1;
    const mine = line.last.then(work);
    line.last = mine.catch(() => undefined);
    try {
      return await mine;
    } finally {
      line.length -= 1;
      if (line.length === 0) this.lines.delete(asker);
    }
  }
}
