import { Inject } from '@nestjs/common';
import { CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import { instant, type Clock } from '#event-sourcing/core/clock.js';
import { CLOCK } from '#platform/tokens.js';
import { EndLinksMadeBy } from '../../contracts/commands.js';
import { LinkStore } from '../../links/link.store.js';

@CommandHandler(EndLinksMadeBy)
export class EndLinksHandler implements ICommandHandler<EndLinksMadeBy> {
  constructor(
    private readonly links: LinkStore,
    @Inject(CLOCK) private readonly clock: Clock,
  ) {}

  async execute({ workspaceId, makers }: EndLinksMadeBy) {
    return { ended: await this.links.revokeMadeBy(workspaceId, makers, instant(this.clock.now())) };
  }
}
