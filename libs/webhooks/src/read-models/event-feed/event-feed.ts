import { Inject, Injectable } from '@nestjs/common';
import type pg from 'pg';
import type { Mode } from '#event-sourcing/core/mode.js';
import { POSTGRES } from '#platform/postgres/pool.js';
import { PUBLIC_EVENT_TYPES, type PublicEventType } from '../../contracts/event-types.js';
import { unionOfEach } from './union-of-each.js';

/** An event as it is pushed. */
export interface FeedEvent {
  /** Position of the recorded event in the log, in decimal; for a failure, of its release. */
  readonly position: string;
  readonly readingId: string;
  /** As stored; `wholeBody` gives the bytes that deliveries carry. */
  readonly body: string;
  readonly showsExternalId: boolean;
}

/** An event or a notice as it is pushed. */
export interface FoundEvent extends Omit<FeedEvent, 'position' | 'readingId'> {
  readonly workspaceId: string;
  /** `null` for a notice. */
  readonly readingId: string | null;
}

const EVENT_ID = /^evt_[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/**
 * The public events of a workspace in log order. Only the fan-out adds events, in log order and one transaction at a
 * time. So no event ever appears before one that was already read.
 */
@Injectable()
export class EventFeed {
  constructor(@Inject(POSTGRES) private readonly pool: pg.Pool) {}

  /** An event or a notice; `null`: there is none of these modes. Trials are in no feed. */
  async find(eventId: string, modes: readonly Mode[]): Promise<FoundEvent | null> {
    if (!EVENT_ID.test(eventId)) return null;
    const { rows } = await this.pool.query<FoundEvent>(
      `select workspace_id as "workspaceId", reading_id as "readingId", body, shows_external_id as "showsExternalId"
       from webhooks.public_event event
       where event_id = $1 and (position is not null or reading_id is null) and livemode = any ($2::boolean[])`,
      [eventId, modes.map((mode) => mode === 'live')],
    );
    return rows[0] ?? null;
  }

  /**
   * @param after position in decimal; `null`: from the first
   * @param types `null`: all
   * @param modes of the readings
   */
  async page(
    workspaceId: string,
    limit: number,
    after: string | null,
    types: readonly PublicEventType[] | null,
    modes: readonly Mode[],
  ): Promise<readonly FeedEvent[]> {
    if (modes.length === 0) return [];
    const { rows } = await this.pool.query<FeedEvent>(
      `select told.position::text, reading_id as "readingId", body, shows_external_id as "showsExternalId"
       from (${unionOfEach(
         types ?? PUBLIC_EVENT_TYPES,
         modes,
         (ofEach) => `
           select position, reading_id, body, shows_external_id from webhooks.public_event
           where workspace_id = $1 and ${ofEach} and position > coalesce($2::numeric, -1)
           order by position limit $3`,
       )}) told
       order by told.position limit $3`,
      [workspaceId, after, limit],
    );
    return rows;
  }
}
