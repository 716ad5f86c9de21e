/** Number of answers that the figures are made of. */
const WINDOW = 1_000;

const SHARES: readonly (readonly [name: string, share: number])[] = [
  ['Quintile 1', 0],
  ['Quintile 2', 0.2],
  ['Quintile 3', 0.4],
  ['Quintile 4', 0.6],
  ['Quintile 5', 0.8],
  ['90%', 0.9],
  ['95%', 0.95],
  ['99%', 0.99],
  ['99.5%', 0.995],
  ['99.9%', 0.999],
];

/** How long a consumer takes from the delivery of an event to its answer, in milliseconds. */
export class DeliveryTimes {
  private readonly started = new Map<string, number>();
  private readonly measured: number[] = [];

  /** @param now milliseconds of a monotonic clock */
  constructor(private readonly now: () => number) {}

  begun(id: string): void {
    this.started.set(id, this.now());
  }

  ended(id: string): void {
    const start = this.started.get(id);
    if (start === undefined) return;
    this.started.delete(id);
    this.measured.push(Math.round(this.now() - start));
    if (this.measured.length > WINDOW) this.measured.shift();
  }

  /** The protocol's figures by name; none before the first answer. */
  figures(): readonly (readonly [name: string, milliseconds: number])[] {
    const sorted = this.measured.toSorted((a, b) => a - b);
    if (sorted.length === 0) return [];
    const at = (share: number): number => sorted[Math.trunc(share * sorted.length)] ?? 0;
    const sum = sorted.reduce((total, time) => total + time, 0);
    return [
      ['Mean', Math.trunc(sum / sorted.length)],
      ['Median', at(0.5)],
      ['Fastest', at(0)],
      ...SHARES.map(([name, share]) => [name, at(share)] as const),
      ['Highest', sorted.at(-1) ?? 0],
    ];
  }
}
