import type { BeforeApplicationShutdown, OnApplicationBootstrap } from '@nestjs/common';
import type { Logger } from 'pino';
import { within } from '../async/within.js';

/** How often notes are written, and how long the last write may take when the process stops (ms). */
const WRITE_EVERY_MS = 10_000;
const LAST_WRITE_WITHIN_MS = 1_000;

/**
 * Collects notes in memory, by id, and writes them together every ten seconds: for what each request notes and nobody
 * needs at once. A killed process loses its last seconds.
 */
export abstract class WrittenTogether<Note> implements OnApplicationBootstrap, BeforeApplicationShutdown {
  protected waiting = new Map<string, Note>();
  private timer: NodeJS.Timeout | undefined;

  /** @param what is noted, for the log: `the uses of links` */
  protected constructor(
    private readonly what: string,
    private readonly log: Pick<Logger, 'warn'>,
  ) {}

  /** Stores a batch, in one statement. */
  protected abstract store(batch: ReadonlyMap<string, Note>): Promise<void>;
  /** Takes a batch back that could not be stored. An outage must not fill the memory. */
  protected abstract takeBack(batch: ReadonlyMap<string, Note>): void;

  onApplicationBootstrap(): void {
    this.timer = setInterval(() => void this.write(), WRITE_EVERY_MS).unref();
  }

  /** Runs before the shutdown hook that closes the connections. */
  async beforeApplicationShutdown(): Promise<void> {
    clearInterval(this.timer);
    await within(LAST_WRITE_WITHIN_MS, this.write());
  }

  async write(): Promise<void> {
    if (this.waiting.size === 0) return;
    const batch = this.waiting;
    this.waiting = new Map();
    try {
      await this.store(batch);
    } catch (error) {
      this.takeBack(batch);
      this.log.warn({ reason: (error as Error).message }, `${this.what} were not written`);
    }
  }
}
