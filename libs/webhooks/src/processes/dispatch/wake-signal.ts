import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';

const POLL_MS = 1_000;
const RECONNECT_MS = 1_000;

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

  /** Listens on its own connection, reconnecting when it breaks, until the signal aborts. */
  async listen(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      await this.listenOnce(signal).catch(() => undefined);
      await delay(RECONNECT_MS, undefined, { signal }).catch(() => undefined);
    }
  }

  private notified(): void {
    this.isNotified = true;
    this.now();
  }

  private async listenOnce(signal: AbortSignal): Promise<void> {
    const client = new pg.Client({ connectionString: this.databaseUrl, keepAlive: true });
    const ended = new Promise<void>((resolve) => {
      client.once('error', () => resolve());
      client.once('end', () => resolve());
      signal.addEventListener('abort', () => resolve(), { once: true });
    });
    client.on('error', () => undefined);
    client.on('notification', () => this.notified());
    try {
      await client.connect();
      await client.query(`listen ${pg.escapeIdentifier(this.channel)}`);
      await ended;
    } finally {
      await client.end().catch(() => undefined);
    }
  }
}
