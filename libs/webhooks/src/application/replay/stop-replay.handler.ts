import { Inject } from '@nestjs/common';
import { CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import type pg from 'pg';
import { instant, type Clock } from '#event-sourcing/core/clock.js';
import { POSTGRES } from '#platform/postgres/pool.js';
import { CLOCK } from '#platform/tokens.js';
import { StopReplay, type StopReplayResult } from '../../contracts/replay.js';
import { ReplayRows } from '../../read-models/replay/replay-rows.js';
import { EndpointAccess } from '../endpoint-access.js';

@CommandHandler(StopReplay)
export class StopReplayHandler implements ICommandHandler<StopReplay> {
  constructor(
    private readonly access: EndpointAccess,
    private readonly rows: ReplayRows,
    @Inject(POSTGRES) private readonly pool: pg.Pool,
    @Inject(CLOCK) private readonly clock: Clock,
  ) {}

  async execute({ endpointId, workspaceId, replayId }: StopReplay): Promise<StopReplayResult> {
    const known = await this.access.find(endpointId, workspaceId);
    if (known.outcome !== 'found') return known;
    if (!(await this.rows.find(endpointId, replayId))) return { outcome: 'replay_not_found' };
    // Waits for the page in progress. The job then finds nothing more to do.
    await this.pool.query(
      `update webhooks.replay set state = 'stopped', finished_at = $2, updated_at = $2
       where replay_id = $1 and state in ('queued', 'running')`,
      [replayId, instant(this.clock.now())],
    );
    return { outcome: 'ended', record: (await this.rows.find(endpointId, replayId))! };
  }
}
