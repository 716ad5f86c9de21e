import { Inject } from '@nestjs/common';
import { CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import type pg from 'pg';
import { instant, type Clock } from '#event-sourcing/core/clock.js';
import { POSTGRES } from '#platform/postgres/pool.js';
import { CLOCK } from '#platform/tokens.js';
import { EndpointAccess } from '../endpoint-access.js';
import { ProbeEndpoint } from './probe-endpoint.command.js';

@CommandHandler(ProbeEndpoint)
export class ProbeEndpointHandler implements ICommandHandler<ProbeEndpoint> {
  constructor(
    private readonly access: EndpointAccess,
    @Inject(POSTGRES) private readonly pool: pg.Pool,
    @Inject(CLOCK) private readonly clock: Clock,
  ) {}

  /** An endpoint that is verified has no row, so nothing is sent to it. */
  async execute({ endpointId, workspaceId }: ProbeEndpoint) {
    const known = await this.access.find(endpointId, workspaceId);
    if (known.outcome !== 'found') return known;
    await this.pool.query(
      'update webhooks.verification set due_at = least(due_at, $2) where endpoint_id = $1',
      [endpointId, instant(this.clock.now())],
    );
    return { outcome: 'asked', record: known.record } as const;
  }
}
