import { Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';
import { within } from '../async/within.js';

/** How often the connection is checked, and how long the check may take (ms). */
const ASK_EVERY_MS = 5_000;
const ANSWER_WITHIN_MS = 2_000;
/** Pause before reconnecting (ms), with jitter so that processes do not reconnect together. */
const PAUSE_MS = 500;

export interface NotificationHandlers {
  /** @param payload the sender's argument to `pg_notify` */
  readonly onNotification: (payload: string) => void;
  /** Called for each new connection: notifications sent in between were missed. */
  readonly onConnected: () => void;
}

/**
 * Listens to a PostgreSQL channel on its own connection, and reconnects when it is lost. Best effort: messages may be
 * missed (lost connection, connection pooler in between), so anything that depends on them also needs a time limit.
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

  /** Resolves when the connection ends. */
  private async listen(signal: AbortSignal): Promise<void> {
    const socket = new Socket();
    const client = new pg.Client({
      connectionString: this.connectionString,
      connectionTimeoutMillis: ANSWER_WITHIN_MS,
      query_timeout: ANSWER_WITHIN_MS,
      application_name: `reading-service listens to ${this.channel}`,
      keepAlive: true,
      stream: () => socket,
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
      // A dropped connection sends no close.
      socket.destroy();
    }
  }
}
