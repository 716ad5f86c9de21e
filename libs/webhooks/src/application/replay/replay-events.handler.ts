import { Inject } from '@nestjs/common';
import { CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import { randomUUID } from 'node:crypto';
import type pg from 'pg';
import { instant, type Clock } from '#event-sourcing/core/clock.js';
import { POSTGRES, transaction } from '#platform/postgres/pool.js';
import { CLOCK } from '#platform/tokens.js';
import type { EndpointRefusal, NoLongerKept, ReplayRefusal } from '../../contracts/refusals.js';
import {
  ReplayEvents,
  UNDELIVERED_STATUSES,
  type ReplayChoice,
  type ReplayRecord,
  type RequestedReplay,
} from '../../contracts/replay.js';
import { DeletedPast } from '../../read-models/deleted-past/deleted-past.js';
import { ReplayRows } from '../../read-models/replay/replay-rows.js';
import { EndpointAccess } from '../endpoint-access.js';
import { lockRequestsOf } from '../lock-requests.js';
import { addReplayJob } from './replay.job.js';

interface Requested {
  readonly endpointId: string;
  readonly workspaceId: string;
  readonly idempotencyKey: string | null;
  readonly at: string;
}

/** Dry runs that may wait for each endpoint: each reads the whole span again. */
const DRY_RUNS_PER_ENDPOINT = 10;

@CommandHandler(ReplayEvents)
export class ReplayEventsHandler implements ICommandHandler<ReplayEvents> {
  constructor(
    private readonly access: EndpointAccess,
    private readonly rows: ReplayRows,
    private readonly deleted: DeletedPast,
    @Inject(POSTGRES) private readonly pool: pg.Pool,
    @Inject(CLOCK) private readonly clock: Clock,
  ) {}

  async execute({
    endpointId,
    workspaceId,
    choice,
    idempotencyKey,
  }: ReplayEvents): Promise<RequestedReplay | EndpointRefusal | ReplayRefusal | NoLongerKept> {
    const found = await this.access.find(endpointId, workspaceId);
    if (found.outcome !== 'found') return found;
    const endpoint = found.record;
    const known = idempotencyKey === null ? null : await this.rows.findByKey(endpointId, idempotencyKey);
    if (known) return again(known, choice);
    if (!endpoint.enabled && !choice.dryRun) return { outcome: 'endpoint_disabled' };
    const at = instant(this.clock.now());
    const chosen: ReplayChoice = {
      since: choice.since,
      until: choice.until ?? at,
      types: choice.types ?? endpoint.events,
      statuses: choice.statuses ?? UNDELIVERED_STATUSES,
      modes: endpoint.modes.filter((mode) => choice.modes?.includes(mode) ?? true),
      dryRun: choice.dryRun,
    };
    const past = await this.deleted.ofFeed(workspaceId, chosen.types, chosen.modes);
    if (past !== null && chosen.since < past.keptSince)
      return { outcome: 'no_longer_kept', keptSince: past.keptSince, field: '/since' };
    const replayId = randomUUID();
    const stored = await this.store(replayId, { endpointId, workspaceId, idempotencyKey, at }, chosen);
    if (stored === 'stored') {
      return { outcome: 'queued', record: (await this.rows.find(endpointId, replayId))! };
    }
    if (stored === 'known') return again((await this.rows.findByKey(endpointId, idempotencyKey!))!, choice);
    return { outcome: 'replay_in_progress', endpointId, replayId: stored.runs };
  }

  /** @returns `known` when another request with its key was faster; `runs`: the replay that must end first */
  private store(
    replayId: string,
    by: Requested,
    choice: ReplayChoice,
  ): Promise<'stored' | 'known' | { readonly runs: string }> {
    const { endpointId, workspaceId, idempotencyKey, at } = by;
    const { since, until, types, statuses, modes, dryRun } = choice;
    return transaction(this.pool, async (client) => {
      await lockRequestsOf(client, endpointId);
      const isKnown = await client.query(
        'select from webhooks.replay where endpoint_id = $1 and idempotency_key = $2',
        [endpointId, idempotencyKey],
      );
      if (isKnown.rowCount === 1) return 'known';
      const runs = await this.inTheWay(client, endpointId, choice);
      if (runs !== null) return { runs };
      await client.query(
        `insert into webhooks.replay (replay_id, endpoint_id, workspace_id, since, until, types, statuses, modes, dry_run, state,
                                      last_position, idempotency_key, created_at, updated_at)
         values ($1, $2, $3, $4, $5, $6, $7, $11, $8, 'queued',
                 (select max(position) from webhooks.public_event where workspace_id = $3), $9, $10, $10)`,
        [replayId, endpointId, workspaceId, since, until, types, statuses, dryRun, idempotencyKey, at, modes],
      );
      const { text, values } = addReplayJob(replayId);
      await client.query(text, values as unknown[]);
      return 'stored';
    });
  }

  /**
   * The id of the oldest unfinished replay of the endpoint, when no further one may run beside it. Test keys and live
   * keys are not in each other's way.
   */
  private async inTheWay(
    client: pg.PoolClient,
    endpointId: string,
    { dryRun, modes }: ReplayChoice,
  ): Promise<string | null> {
    const { rows } = await client.query<{ replay_id: string }>(
      `select replay_id from webhooks.replay
       where endpoint_id = $1 and dry_run = $2 and modes && $3 and state in ('queued', 'running')
       order by created_at`,
      [endpointId, dryRun, modes],
    );
    const limit = dryRun ? DRY_RUNS_PER_ENDPOINT : 1;
    return rows.length < limit ? null : (rows[0]?.replay_id ?? null);
  }
}

/** The first answer again, if it is the same request that comes again under its key. */
const again = (
  known: ReplayRecord,
  { since, until, types, statuses, modes, dryRun }: ReplayEvents['choice'],
): RequestedReplay | ReplayRefusal => {
  const isSame =
    known.since === since &&
    known.dryRun === dryRun &&
    (until === null || known.until === until) &&
    (types === null || sameMembers(known.types, types)) &&
    (statuses === null || sameMembers(known.statuses, statuses)) &&
    (modes === null || known.modes.every((mode) => modes.includes(mode)));
  if (!isSame) return { outcome: 'different_request' };
  const record: ReplayRecord = {
    ...known,
    state: 'queued',
    events: 0,
    progress: 0,
    deliveries: { pending: 0, succeeded: 0, exhausted: 0, skipped: 0 },
    finishedAt: null,
  };
  return { outcome: 'repeated', record };
};

const sameMembers = (a: readonly string[], b: readonly string[]): boolean =>
  a.length === b.length && a.every((member) => b.includes(member));
