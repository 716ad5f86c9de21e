const FIRST_PAUSE_MS = 60_000;
const LONGEST_PAUSE_MS = 3_600_000;
/** Most different things remembered; beyond, the oldest counts as new when it happens again. */
const REMEMBERED = 1_000;

interface Known {
  /** Nothing is said before. */
  readonly until: number;
  readonly pauseMs: number;
  unsaid: number;
}

/**
 * Decides when to say something that keeps happening, such as a failure: at once, and then at growing intervals: after
 * one minute, two, four, up to an hour. So a log shows that it lasts, and stays readable.
 */
export class Recurring {
  private readonly known = new Map<string, Known>();

  /** @param now monotonic, in milliseconds */
  constructor(private readonly now: () => number = () => performance.now()) {}

  /** @returns how often it happened since it was last said, this time included; 0: say nothing now */
  happened(what: string): number {
    const at = this.now();
    const before = this.known.get(what);
    // Quiet for as long as the longest pause: it is something new.
    const isOver = before !== undefined && at > before.until + LONGEST_PAUSE_MS;
    if (before && !isOver && at < before.until) {
      before.unsaid += 1;
      return 0;
    }
    const pauseMs = before && !isOver ? Math.min(2 * before.pauseMs, LONGEST_PAUSE_MS) : FIRST_PAUSE_MS;
    this.known.delete(what);
    this.known.set(what, { until: at + pauseMs, pauseMs, unsaid: 0 });
    if (this.known.size > REMEMBERED) this.known.delete(this.known.keys().next().value!);
    return (isOver ? 0 : (before?.unsaid ?? 0)) + 1;
  }

  /** It works again: the next failure is said at once. */
  over(): void {
    this.known.clear();
  }
}
