import { randomUUID } from 'node:crypto';
import { Inject } from '@nestjs/common';
import { CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import type pg from 'pg';
import { instant, type Clock } from '@app/event-sourcing/core/clock.js';
import { POSTGRES, transaction } from '@app/platform/postgres/pool.js';
import { CLOCK } from '@app/platform/tokens.js';
import { WebhookRefused } from '../../contracts/errors.js';
import {
  ReplayEvents,
  UNDELIVERED_STATUSES,
  type ReplayChoice,
  type ReplayRecord,
  type RequestedReplay,
} from '../../contracts/replay.js';
import { ReplayRows } from '../../read-models/replay/replay-rows.js';
import { EndpointAccess } from '../endpoint-access.js';
import { addReplayJob } from './replay.job.js';

@CommandHandler(ReplayEvents)
export class ReplayEventsHandler implements ICommandHandler<ReplayEvents> {
  constructor(
    private readonly access: EndpointAccess,
    private readonly rows: ReplayRows,
    @Inject(POSTGRES) private readonly pool: pg.Pool,
    @Inject(CLOCK) private readonly clock: Clock,
  ) {}

  async execute({ endpointId, workspaceId, choice, idempotencyKey }: ReplayEvents): Promise<RequestedReplay> {
    const { record: endpoint } = await this.access.require(endpointId, workspaceId);
    const known = idempotencyKey === null ? null : await this.rows.findByKey(endpointId, idempotencyKey);
    if (known) return again(known, choice);
    if (!endpoint.enabled && !choice.dryRun) {
      throw new WebhookRefused('precondition_failed', 'The endpoint is disabled: enable it first');
    }
    const at = instant(this.clock.now());
    const chosen: ReplayChoice = {
      since: choice.since,
      until: choice.until ?? at,
      types: choice.types ?? endpoint.events,
      statuses: choice.statuses ?? UNDELIVERED_STATUSES,
      dryRun: choice.dryRun,
    };
    const replayId = randomUUID();
    const stored = await this.store(replayId, { endpointId, workspaceId, idempotencyKey, at }, chosen);
    if (stored) return { record: (await this.rows.find(endpointId, replayId))!, repeated: false };
    return again((await this.rows.findByKey(endpointId, idempotencyKey!))!, choice);
  }

  /** @returns whether it was stored: not, when another request with its key was faster */
  private store(
    replayId: string,
    by: { endpointId: string; workspaceId: string; idempotencyKey: string | null; at: string },
    { since, until, types, statuses, dryRun }: ReplayChoice,
  ): Promise<boolean> {
    const { endpointId, workspaceId, idempotencyKey, at } = by;
    return transaction(this.pool, async (client) => {
      const { rowCount } = await client.query(
        `insert into webhooks.replay (replay_id, endpoint_id, workspace_id, since, until, types, statuses, dry_run, state,
                                      last_position, idempotency_key, created_at, updated_at)
         values ($1, $2, $3, $4, $5, $6, $7, $8, 'queued',
                 (select max(position) from webhooks.public_event where workspace_id = $3), $9, $10, $10)
         on conflict do nothing`,
        [replayId, endpointId, workspaceId, since, until, types, statuses, dryRun, idempotencyKey, at],
      );
      if (rowCount === 0) return false;
      const { text, values } = addReplayJob(replayId);
      await client.query(text, values as unknown[]);
      return true;
    });
  }
}

/** The answer to a request made again under its key: as it was answered first, if it is the same request. */
const again = (known: ReplayRecord, { since, until, types, statuses, dryRun }: ReplayEvents['choice']) => {
  const isSame =
    known.since === since &&
    known.dryRun === dryRun &&
    (until === null || known.until === until) &&
    (types === null || sameMembers(known.types, types)) &&
    (statuses === null || sameMembers(known.statuses, statuses));
  if (!isSame) throw new WebhookRefused('idempotency_key_reused');
  const record: ReplayRecord = {
    ...known,
    state: 'queued',
    events: 0,
    progress: 0,
    deliveries: { pending: 0, succeeded: 0, exhausted: 0, skipped: 0 },
    finishedAt: null,
  };
  return { record, repeated: true };
};

const sameMembers = (a: readonly string[], b: readonly string[]): boolean =>
  a.length === b.length && a.every((member) => b.includes(member));
