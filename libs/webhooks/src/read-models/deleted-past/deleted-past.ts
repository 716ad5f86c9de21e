import { Inject, Injectable } from '@nestjs/common';
import type pg from 'pg';
import type { Mode } from '#event-sourcing/core/mode.js';
import { POSTGRES } from '#platform/postgres/pool.js';
import type { DeliveryNotFound, NoLongerKept } from '../../contracts/refusals.js';
import type { DeliveredType } from '../../contracts/notice-types.js';

/** What of a feed was deleted after its term. */
export interface DeletedPart {
  /** The highest deleted position, in decimal. */
  readonly position: string;
  /** What happened from this instant on is kept (RFC 3339). */
  readonly keptSince: string;
}

/** What retention has deleted, as far as one workspace may know it. */
@Injectable()
export class DeletedPast {
  constructor(@Inject(POSTGRES) private readonly pool: pg.Pool) {}

  /** What was deleted of these types and modes; `null`: nothing. @param types `null`: all, of events and of notices */
  async ofFeed(
    workspaceId: string,
    types: readonly DeliveredType[] | null,
    modes: readonly Mode[],
  ): Promise<DeletedPart | null> {
    const { rows } = await this.pool.query<{ position: string | null; until: Date | null }>(
      `select max(position)::text as position, max(until) as until from webhooks.deleted_past
       where workspace_id = $1 and ($2::text[] is null or type = any ($2))
         and case when livemode then 'live' else 'test' end = any ($3)`,
      [workspaceId, types, modes],
    );
    const { position, until } = rows[0]!;
    return position === null || until === null ? null : { position, keptSince: until.toISOString() };
  }

  /** Why a delivery is not found: it may be deleted, or the endpoint never had it. */
  async refusalOfDelivery(
    endpointId: string,
    modes: readonly Mode[],
  ): Promise<DeliveryNotFound | NoLongerKept> {
    const keptSince = await this.ofDeliveries(endpointId, modes);
    return keptSince === null
      ? { outcome: 'delivery_not_found' }
      : { outcome: 'no_longer_kept', keptSince, field: null };
  }

  /**
   * From which instant on all deliveries of an endpoint are kept (RFC 3339), as far as deliveries of these modes are
   * concerned; `null`: it is younger, so nothing was deleted. Deliveries go after their own term, or with their events.
   */
  private async ofDeliveries(endpointId: string, modes: readonly Mode[]): Promise<string | null> {
    const { rows } = await this.pool.query<{ since: Date }>(
      `select since from webhooks.endpoint cross join lateral (
         select greatest(
           (select kept_since from platform.retention_round where kind = 'deliveries'),
           (select max(until) from webhooks.deleted_past past
            where past.workspace_id = endpoint.workspace_id
              and case when livemode then 'live' else 'test' end = any ($2))) as since) kept
       where endpoint_id = $1 and endpoint.created_at < since`,
      [endpointId, modes],
    );
    return rows[0]?.since.toISOString() ?? null;
  }
}
