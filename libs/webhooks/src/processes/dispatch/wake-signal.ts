import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';

const POLL_MS = 1_000;
const RECONNECT_MS = 1_000;

/**
 * Tells the dispatcher to look for work: at once when Postgres notifies, and every second in any case, because a
 * notification may be lost and retries become due by themselves.
 */
export class WakeSignal {
  private pending = false;
  private wakeUp = (): void => undefined;

  constructor(
    private readonly databaseUrl: string,
    private readonly channel: string,
  ) {}

  now(): void {
    this.pending = true;
    this.wakeUp();
  }

  /** Resolves when there may be work, or the signal aborts. */
  async wait(signal: AbortSignal): Promise<void> {
    if (!this.pending && !signal.aborted) {
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, POLL_MS);
        this.wakeUp = () => {
          clearTimeout(timer);
          resolve();
        };
        signal.addEventListener('abort', this.wakeUp, { once: true });
      });
      signal.removeEventListener('abort', this.wakeUp);
    }
    this.pending = false;
  }

  /** Listens on a connection of its own, opened again when it breaks, until the signal aborts. */
  async listen(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      await this.listenOnce(signal).catch(() => undefined);
      await delay(RECONNECT_MS, undefined, { signal }).catch(() => undefined);
    }
  }

  private async listenOnce(signal: AbortSignal): Promise<void> {
    const client = new pg.Client({ connectionString: this.databaseUrl, keepAlive: true });
    const ended = new Promise<void>((resolve) => {
      client.once('error', () => resolve());
      client.once('end', () => resolve());
      signal.addEventListener('abort', () => resolve(), { once: true });
    });
    client.on('error', () => undefined);
    client.on('notification', () => this.now());
    try {
      await client.connect();
      await client.query(`listen ${pg.escapeIdentifier(this.channel)}`);
      await ended;
    } finally {
      await client.end().catch(() => undefined);
    }
  }
}
