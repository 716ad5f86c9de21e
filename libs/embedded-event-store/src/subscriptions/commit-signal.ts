/** Wakes subscriptions: those of a stream with new events, and all that follow the whole log. */
export class CommitSignal {
  private readonly byStream = new Map<string, Set<() => void>>();
  private readonly ofAll = new Set<() => void>();

  /**
   * Calls `wake` once, after the next commit with events of the stream (any commit if undefined).
   * @returns a function that cancels the request
   */
  once(stream: string | undefined, wake: () => void): () => void {
    const waiting = this.waitingFor(stream);
    waiting.add(wake);
    return () => {
      waiting.delete(wake);
      if (stream !== undefined && waiting.size === 0 && this.byStream.get(stream) === waiting) {
        this.byStream.delete(stream);
      }
    };
  }

  publish(streams: ReadonlySet<string>): void {
    wakeAll(this.ofAll);
    for (const stream of streams) {
      const waiting = this.byStream.get(stream);
      if (!waiting) continue;
      this.byStream.delete(stream);
      wakeAll(waiting);
    }
  }

  private waitingFor(stream: string | undefined): Set<() => void> {
    if (stream === undefined) return this.ofAll;
    const waiting = this.byStream.get(stream) ?? new Set();
    this.byStream.set(stream, waiting);
    return waiting;
  }
}

const wakeAll = (waiting: Set<() => void>): void => {
  const wakes = [...waiting];
  waiting.clear();
  for (const wake of wakes) wake();
};
