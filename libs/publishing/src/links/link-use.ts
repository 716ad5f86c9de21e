import { Inject, Injectable } from '@nestjs/common';
import type { Logger } from 'pino';
import { instant, type Clock } from '#event-sourcing/core/clock.js';
import { CLOCK, LOGGER } from '#platform/tokens.js';
import { WrittenTogether } from '#platform/work/written-together.js';
import { LinkStore, type Uses } from './link.store.js';

/** Most links whose uses wait to be written. Uses of further links are written at once. */
const LINKS = 10_000;

/** Counts the uses of links in memory, and adds them to their rows together. */
@Injectable()
export class LinkUse extends WrittenTogether<{ readonly count: number; readonly last: string }> {
  constructor(
    private readonly links: LinkStore,
    @Inject(CLOCK) private readonly clock: Clock,
    @Inject(LOGGER) log: Pick<Logger, 'warn'>,
  ) {
    super('the uses of links', log);
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

  protected override store(batch: Uses): Promise<void> {
    return this.links.addUses(batch);
  }

  /** For the next write, as far as there is room. */
  protected override takeBack(batch: Uses): void {
    for (const [linkId, { count, last }] of batch) {
      const fresh = this.waiting.get(linkId);
      if (fresh) this.waiting.set(linkId, { count: count + fresh.count, last: fresh.last });
      else if (this.waiting.size < LINKS) this.waiting.set(linkId, { count, last });
    }
  }
}
