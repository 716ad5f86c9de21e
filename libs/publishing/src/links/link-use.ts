import {
  Inject,
  Injectable,
  type BeforeApplicationShutdown,
  type OnApplicationBootstrap,
} from '@nestjs/common';
import type { Logger } from 'pino';
import { instant, type Clock } from '@app/event-sourcing/core/clock.js';
import { within } from '@app/platform/async/within.js';
import { LOGGER } from '@app/platform/telemetry/logger.js';
import { CLOCK } from '@app/platform/tokens.js';
import { LinkStore } from './link.store.js';

/** How often new uses are written, and how long the last write may take when the process stops (ms). */
const WRITE_EVERY_MS = 10_000;
const LAST_WRITE_WITHIN_MS = 1_000;
/** Most links whose uses wait to be written. Uses of further links are written at once. */
const LINKS = 10_000;

/** Counts the uses of links in memory, and adds them to their rows together. A killed process loses its last seconds. */
@Injectable()
export class LinkUse implements OnApplicationBootstrap, BeforeApplicationShutdown {
  private waiting = new Map<string, { count: number; last: string }>();
  private timer: NodeJS.Timeout | undefined;

  constructor(
    private readonly links: LinkStore,
    @Inject(CLOCK) private readonly clock: Clock,
    @Inject(LOGGER) private readonly log: Pick<Logger, 'warn'>,
  ) {}

  onApplicationBootstrap(): void {
    this.timer = setInterval(() => void this.write(), WRITE_EVERY_MS).unref();
  }

  /** Runs before the shutdown hook that closes the connections. */
  async beforeApplicationShutdown(): Promise<void> {
    clearInterval(this.timer);
    await within(LAST_WRITE_WITHIN_MS, this.write());
  }

  /** Notes an answered read. Costs one map look-up. */
  note(linkId: string): void {
    const count = (this.waiting.get(linkId)?.count ?? 0) + 1;
    this.waiting.set(linkId, { count, last: instant(this.clock.now()) });
    if (this.waiting.size > LINKS) void this.write();
  }

  /** Adds what waits here to a link that is shown. */
  withWaiting<
    L extends { readonly linkId: string; readonly uses: number; readonly lastUsedAt: string | null },
  >(link: L): L {
    const waiting = this.waiting.get(link.linkId);
    return waiting ? { ...link, uses: link.uses + waiting.count, lastUsedAt: waiting.last } : link;
  }

  async write(): Promise<void> {
    if (this.waiting.size === 0) return;
    const batch = this.waiting;
    this.waiting = new Map();
    try {
      await this.links.addUses(batch);
    } catch (error) {
      this.keep(batch);
      this.log.warn({ reason: (error as Error).message }, 'the uses of links were not written');
    }
  }

  /** For the next write, as far as there is room: an outage must not fill the memory. */
  private keep(batch: ReadonlyMap<string, { count: number; last: string }>): void {
    for (const [linkId, { count, last }] of batch) {
      const fresh = this.waiting.get(linkId);
      if (fresh) this.waiting.set(linkId, { count: count + fresh.count, last: fresh.last });
      else if (this.waiting.size < LINKS) this.waiting.set(linkId, { count, last });
    }
  }
}
