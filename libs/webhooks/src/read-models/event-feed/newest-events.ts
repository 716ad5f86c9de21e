import { Inject } from '@nestjs/common';
import { QueryHandler, type IQueryHandler } from '@nestjs/cqrs';
import type pg from 'pg';
import { POSTGRES } from '#platform/postgres/pool.js';
import { FindToldEvent, ListNewestEvents, type ToldEvent } from '../../contracts/feed.js';
import { isNotice } from '../../contracts/notice-types.js';
import { unionOfEach } from './union-of-each.js';

const EVENT = `told.position::text, told.body, told.reading_id as "readingId",
  told.shows_external_id as "showsExternalId" from webhooks.public_event told`;
const NOTICE = `told.position::text, told.body, null::uuid as "readingId", false as "showsExternalId"
  from webhooks.notice told`;

/** The largest bigint: before it are all notices. */
const LAST = '9223372036854775807';

@QueryHandler(ListNewestEvents)
export class ListNewestEventsHandler implements IQueryHandler<ListNewestEvents> {
  constructor(@Inject(POSTGRES) private readonly pool: pg.Pool) {}

  async execute({
    workspaceId,
    mode,
    types,
    limit,
    before,
  }: ListNewestEvents): Promise<readonly ToldEvent[]> {
    const isOfNotices = types.some(isNotice);
    const { rows } = await this.pool.query<ToldEvent>(
      `select * from (${unionOfEach(
        types,
        [mode],
        (ofEach) => `
          select ${isOfNotices ? NOTICE : EVENT}
          where workspace_id = $1 and ${ofEach} and told.position < ${isOfNotices ? `coalesce($2::bigint, ${LAST})` : `coalesce($2::numeric, 'infinity')`}
          order by told.position desc limit $3`,
      )}) newest
       order by newest.position::numeric desc limit $3`,
      [workspaceId, before, limit],
    );
    return rows;
  }
}

@QueryHandler(FindToldEvent)
export class FindToldEventHandler implements IQueryHandler<FindToldEvent> {
  constructor(@Inject(POSTGRES) private readonly pool: pg.Pool) {}

  async execute({ workspaceId, mode, eventId }: FindToldEvent): Promise<ToldEvent | null> {
    // A trial has the sequence 0. Each mode sees it.
    const { rows } = await this.pool.query<ToldEvent>(
      `select ${EVENT} where event_id = $1 and workspace_id = $2 and (livemode = $3 or sequence = 0 and reading_id is not null)
       union all
       select ${NOTICE} where event_id = $1 and workspace_id = $2 and livemode = $3
       limit 1`,
      [eventId, workspaceId, mode === 'live'],
    );
    return rows[0] ?? null;
  }
}
