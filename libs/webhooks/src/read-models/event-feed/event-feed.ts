import type pg from 'pg';
import type { Mode } from '@app/event-sourcing/core/mode.js';
import { Inject, Injectable } from '@app/platform/injection.js';
import { POSTGRES } from '@app/platform/postgres/pool.js';
import type { PublicEventType } from '../../contracts/event-types.js';

/** An event as it is pushed. */
export interface FeedEvent {
  /** Position of the recorded event in the log, in decimal; for a failure, of its release. */
  readonly position: string;
  readonly readingId: string;
  /** As stored; `wholeBody` gives the bytes that deliveries carry. */
  readonly body: string;
  readonly showsExternalId: boolean;
}

/**
 * The public events of a workspace in log order. Only the fan-out adds events, in log order and one transaction at a
 * time. So no event ever appears before one that was already read.
 */
@Injectable()
export class EventFeed {
  constructor(@Inject(POSTGRES) private readonly pool: pg.Pool) {}

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
    const { rows } = await this.pool.query<FeedEvent>(
      `select position::text, reading_id as "readingId", body, shows_external_id as "showsExternalId"
       from webhooks.public_event event
       where workspace_id = $1 and event.position > coalesce($2::numeric, -1) and ($3::text[] is null or type = any ($3))
         ${ofModes(modes)}
       order by event.position
       limit $4`,
      [workspaceId, after, types, limit],
    );
    return rows;
  }
}

/** A condition of its own for each mode: a plan can use the index of test events. */
const ofModes = ([mode, ...others]: readonly Mode[]): string => {
  if (others.length > 0) return '';
  return mode === 'live' ? 'and event.livemode' : 'and not event.livemode';
};
