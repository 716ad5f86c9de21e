import { Line } from './line.js';

/** A line for each asker: its work is done one after another, beside that of others. */
export class Lines {
  private readonly ofAsker = new Map<string, Line>();

  /** @param mostOfOne pieces of work of one asker, under way or waiting */
  constructor(private readonly mostOfOne: number) {}

  /** @throws LineFull at once, without a wait */
  async run<T>(asker: string, work: () => Promise<T>): Promise<T> {
    const line = this.ofAsker.get(asker) ?? new Line(this.mostOfOne, this.mostOfOne);
    this.ofAsker.set(asker, line);
    try {
      return await line.run(asker, work);
    } finally {
      if (line.isEmpty) this.ofAsker.delete(asker);
    }
  }
}
