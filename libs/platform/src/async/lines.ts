import { Line } from './line.js';

/** A line for each asker: its work is done one after another, beside that of others. */
export class Lines {
  private readonly ofAsker = new Map<string, { readonly line: Line; unfinished: number }>();

  /** @param mostOfOne pieces of work of one asker, under way or waiting */
  constructor(private readonly mostOfOne: number) {}

  /** @throws LineFull at once, without a wait */
  async run<T>(asker: string, work: () => Promise<T>): Promise<T> {
    const own = this.ofAsker.get(asker) ?? { line: new Line(this.mostOfOne, this.mostOfOne), unfinished: 0 };
    this.ofAsker.set(asker, own);
    own.unfinished += 1;
    try {
      return await own.line.run(asker, work);
    } finally {
      own.unfinished -= 1;
      if (own.unfinished === 0) this.ofAsker.delete(asker);
    }
  }
}
