import { Inject, Injectable } from '@nestjs/common';
import { uuid5 } from '#event-sourcing/core/event-id.js';
import type { RequestContext } from '#event-sourcing/core/request-context.js';
import type { TrustedClock } from '#event-sourcing/core/trusted-clock.js';
import { TRUSTED_CLOCK } from '#platform/tokens.js';
import type { PackId } from '../../contracts/catalogue.js';
import { CORRECTION_EXECUTORS, type CorrectionExecutors } from '../../executors.js';
import { packGrantId } from '../../domain/credits/credits.decider.js';

/** Gives each line of an order to one workspace of the installation, before its pack is granted. */
@Injectable()
export class OrderLines {
  constructor(
    @Inject(CORRECTION_EXECUTORS) private readonly executors: CorrectionExecutors,
    @Inject(TRUSTED_CLOCK) private readonly clock: TrustedClock,
  ) {}

  /** @returns the workspace that has the line */
  async claim(workspaceId: string, orderRef: string, pack: PackId, by: RequestContext): Promise<string> {
    const grantId = packGrantId(orderRef, pack);
    const outcome = await this.executors.orderLine.execute(
      uuid5('order line', orderRef, pack),
      { type: 'OrderLineClaimed', data: { orderRef, pack, workspaceId, grantId } },
      { intent: `claim:${workspaceId}`, by, workspaceId, at: await this.clock.now() },
    );
    return outcome.state!.workspaceId;
  }
}
