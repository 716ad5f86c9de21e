import { Notifications } from '#platform/postgres/notifications.js';

const POLL_MS = 1_000;

/**
 * Wakes the dispatcher: at once when Postgres notifies, and every second in any case. A notification may be lost, and
 * no notification comes when a retry becomes due.
 */
export class WakeSignal {
  private isPending = false;
  private isNotified = false;
  private polledAt = 0;
  private wakeUp = (): void => undefined;

  constructor(
    private readonly databaseUrl: string,
    private readonly channel: string,
  ) {}

  /** Ends the wait, for a reason inside this process. */
  now(): void {
    this.isPending = true;
    this.wakeUp();
  }

  /**
   * Resolves after `withinMs` at the latest, or when there may be something to do.
   * @returns whether the database may have something new
   */
  async wait(withinMs: number, signal: AbortSignal): Promise<boolean> {
    const sincePoll = performance.now() - this.polledAt;
    if (!this.isPending && !signal.aborted) {
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, Math.max(0, Math.min(withinMs, POLL_MS - sincePoll)));
        this.wakeUp = () => {
          clearTimeout(timer);
          resolve();
        };
        signal.addEventListener('abort', this.wakeUp, { once: true });
      });
      signal.removeEventListener('abort', this.wakeUp);
    }
    this.isPending = false;
    const mayHaveNews = this.isNotified || performance.now() - this.polledAt >= POLL_MS;
    this.isNotified = false;
    if (mayHaveNews) this.polledAt = performance.now();
    return mayHaveNews;
  }

  /** Listens until the signal aborts, on a connection of its own. What came before a new connection was not heard. */
  async listen(signal: AbortSignal): Promise<void> {
    const notified = (): void => this.notified();
    const notifications = new Notifications(this.databaseUrl, this.channel, {
      onNotification: notified,
      onConnected: notified,
    });
    notifications.start();
    if (!signal.aborted)
      await new Promise<unknown>((resolve) => signal.addEventListener('abort', resolve, { once: true }));
    await notifications.stop();
  }

  private notified(): void {
    this.isNotified = true;
    this.now();
  }
}
