/** The long-lived calls (reads, subscriptions, append streams), so that a stop can end them. */
export class OpenCalls {
  private readonly enders = new Set<() => void>();
  private closing = false;

  get stopping(): boolean {
    return this.closing;
  }

  /** Registers how to end a call. The caller runs the returned function when the call ends by itself. */
  add(end: () => void): () => void {
    this.enders.add(end);
    return () => {
      this.enders.delete(end);
    };
  }

  /** Stops accepting new calls; `endAll` ends the open ones. */
  close(): void {
    this.closing = true;
  }

  endAll(): void {
    for (const end of [...this.enders]) end();
    this.enders.clear();
  }
}
