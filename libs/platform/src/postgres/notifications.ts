import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';
import { within } from '../process/within.js';

/** How often the connection is asked whether it still lives, and how long it may take to answer (ms). */
const ASK_EVERY_MS = 5_000;
const ANSWER_WITHIN_MS = 2_000;
/** Pause before connecting again, spread so that processes do not come together (ms). */
const PAUSE_MS = 500;

export interface NotificationHandlers {
  /** @param payload what the sender gave to `pg_notify` */
  readonly onNotification: (payload: string) => void;
  /** Whenever the connection is new: what was told while there was none was missed. */
  readonly onConnected: () => void;
}

/**
 * Listens to a channel of PostgreSQL on a connection of its own, and connects again whenever it is lost. Best effort: a
 * message may be missed (cut off, or a connection pooler in between), so whatever depends on it needs a limit in time too.
 */
export class Notifications {
  private readonly stopping = new AbortController();
  private running: Promise<void> | null = null;

  constructor(
    private readonly connectionString: string,
    private readonly channel: string,
    private readonly handlers: NotificationHandlers,
  ) {}

  start(): void {
    this.running ??= this.run();
  }

  async stop(): Promise<void> {
    this.stopping.abort();
    await within(ANSWER_WITHIN_MS, Promise.resolve(this.running));
  }

  private async run(): Promise<void> {
    const { signal } = this.stopping;
    while (!signal.aborted) {
      await this.listen(signal).catch(() => undefined);
      await delay(PAUSE_MS * (1 + Math.random()), undefined, { signal }).catch(() => undefined);
    }
  }

  /** Ends when the connection does. */
  private async listen(signal: AbortSignal): Promise<void> {
    const client = new pg.Client({
      connectionString: this.connectionString,
      connectionTimeoutMillis: ANSWER_WITHIN_MS,
      query_timeout: ANSWER_WITHIN_MS,
      application_name: `reading-service listens to ${this.channel}`,
      keepAlive: true,
    });
    const lost = new AbortController();
    const ended = (): void => lost.abort();
    client.on('error', ended).on('end', ended);
    client.on('notification', ({ payload = '' }) => this.handlers.onNotification(payload));
    try {
      await client.connect();
      await client.query(`listen ${pg.escapeIdentifier(this.channel)}`);
      this.handlers.onConnected();
      const either = AbortSignal.any([signal, lost.signal]);
      while (!either.aborted) {
        await delay(ASK_EVERY_MS, undefined, { signal: either }).catch(() => undefined);
        if (!either.aborted) await client.query('select 1');
      }
    } finally {
      await within(PAUSE_MS, client.end());
      // A connection that is cut off never says goodbye.
      (client as unknown as Destroyable).connection?.stream?.destroy();
    }
  }
}

interface Destroyable {
  readonly connection?: { readonly stream?: { destroy(): void } };
}
