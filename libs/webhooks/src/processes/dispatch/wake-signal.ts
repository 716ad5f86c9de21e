import { Notifications } from '#platform/postgres/notifications.js';

const POLL_MS = 1_000;

/**
 * Wakes the dispatcher: at once when Postgres notifies, and every second in any case. A notification may be lost, and
 * no notification comes when a retry becomes due. The payload of one is a workspace with something new; without one, it may
 * be any.
 */
export class WakeSignal {
  private isPending = false;
  private isPollDue = false;
  private heard = new Set<string>();
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

  /** Resolves after `withinMs` at the latest. @returns whether all workspaces should be read */
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
    const isPollDue = this.isPollDue || performance.now() - this.polledAt >= POLL_MS;
    this.isPollDue = false;
    if (isPollDue) this.polledAt = performance.now();
    return isPollDue;
  }

  /** Listens until the signal aborts, on a connection of its own. What came before a new connection was not heard. */
  async listen(signal: AbortSignal): Promise<void> {
    const notifications = new Notifications(this.databaseUrl, this.channel, {
      onNotification: (workspaceId) => this.notified(workspaceId),
      onConnected: () => this.notified(''),
    });
    notifications.start();
    if (!signal.aborted)
      await new Promise<unknown>((resolve) => signal.addEventListener('abort', resolve, { once: true }));
    await notifications.stop();
  }

  /** Workspaces that it has heard of since the last call. */
  take(): Set<string> {
    const { heard } = this;
    this.heard = new Set();
    return heard;
  }

  private notified(workspaceId: string): void {
    if (workspaceId === '') this.isPollDue = true;
    else this.heard.add(workspaceId);
    this.now();
  }
}
