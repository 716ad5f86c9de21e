import { Inject, Injectable } from '@nestjs/common';
import { uuid5 } from '#event-sourcing/core/event-id.js';
import type { StoredEvent } from '#event-sourcing/core/event.js';
import { causedBy, type RequestContext } from '#event-sourcing/core/request-context.js';
import type { TrustedClock } from '#event-sourcing/core/trusted-clock.js';
import { categoryOf, streamId } from '#event-sourcing/core/stream-name.js';
import { EVENT_STORE, type EventStore } from '#event-sourcing/store/event-store.js';
import { TRUSTED_CLOCK } from '#platform/tokens.js';
import type { PackId } from '../../contracts/catalogue.js';
import { creditsEvents } from '../../contracts/events.js';
import { CORRECTION_EXECUTORS, type CorrectionExecutors } from '../../correction.executors.js';
import { bookEvent, isOpaque } from '../../audit/unreadable-entry.js';
import { packGrantId } from '../../domain/credits/credits.decider.js';
import { visitLog } from '../audit/read.js';

/** The stream that says whether packs of older versions have their lines. */
const EARLIER = 'earlier';

/** A line of an order: so many credits of a pack, for one workspace. */
interface Line {
  readonly orderRef: string;
  readonly pack: PackId;
  readonly workspaceId: string;
  readonly grantId: string;
}

/** Which workspace has an order line: `grantId` when it is this one, otherwise the other. */
export type Claimed = { readonly grantId: string } | { readonly workspaceId: string };

/** Gives each line of an order to one workspace of the installation, before its pack is granted. */
@Injectable()
export class OrderLines {
  constructor(
    @Inject(CORRECTION_EXECUTORS) private readonly executors: CorrectionExecutors,
    @Inject(EVENT_STORE) private readonly store: EventStore,
    @Inject(TRUSTED_CLOCK) private readonly clock: TrustedClock,
  ) {}

  async claim(workspaceId: string, orderRef: string, pack: PackId, by: RequestContext): Promise<Claimed> {
    await this.claimEarlier(by);
    return this.claimLine({ orderRef, pack, workspaceId, grantId: packGrantId(orderRef, pack) }, by);
  }

  private async claimLine(line: Line, by: RequestContext): Promise<Claimed> {
    const outcome = await this.executors.orderLine.execute(
      uuid5('order line', line.orderRef, line.pack),
      { type: 'OrderLineClaimed', data: line },
      { intent: `claim:${line.workspaceId}`, by, workspaceId: line.workspaceId, at: await this.clock.now() },
    );
    const { workspaceId, grantId } = outcome.state.claim!;
    return outcome.kind === 'rejected' ? { workspaceId } : { grantId };
  }

  /**
   * Packs of older versions have no lines. The first pack after them reads the log once and claims their lines; of two
   * workspaces that share one, the earlier keeps it.
   */
  private async claimEarlier(by: RequestContext): Promise<void> {
    if ((await this.executors.orderLine.load(EARLIER)).state.hasEarlier) return;
    const lines: Line[] = [];
    await visitLog(this.store, (stored) => {
      const line = earlierLine(stored);
      if (line) lines.push(line);
    });
    const own = causedBy(by, 'billing.order-lines');
    for (const line of lines) await this.claimLine(line, own);
    await this.executors.orderLine.execute(
      EARLIER,
      { type: 'EarlierOrdersClaimed', data: { lines: lines.length } },
      { intent: 'earlier', by: own, workspaceId: '', at: await this.clock.now() },
    );
  }
}

const earlierLine = (stored: StoredEvent): Line | null => {
  if (stored.type !== 'PackPurchased' || categoryOf(stored.stream) !== creditsEvents.category) return null;
  const event = bookEvent(stored);
  // A pack that cannot be read granted nothing.
  if (isOpaque(event) || event.type !== 'PackPurchased') return null;
  const { orderRef, pack, grantId } = event.data;
  return { orderRef: orderRef.trim(), pack, grantId, workspaceId: streamId(stored.stream) };
};
