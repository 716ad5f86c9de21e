/** The calls that stay open (reads, subscriptions, append streams), so that a stop can end them. */
export class OpenCalls {
  private readonly enders = new Set<() => void>();
  private closing = false;

  get stopping(): boolean {
    return this.closing;
  }

  /** Registers how to end a call; returns a function to be called when it has ended by itself. */
  add(end: () => void): () => void {
    this.enders.add(end);
    return () => {
      this.enders.delete(end);
    };
  }

  /** From now on no call is taken. */
  close(): void {
    this.closing = true;
  }

  endAll(): void {
    for (const end of [...this.enders]) end();
    this.enders.clear();
  }
}
