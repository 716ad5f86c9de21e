import { Inject } from '@nestjs/common';
import { QueryHandler, type IQueryHandler, type QueryBus } from '@nestjs/cqrs';
import type pg from 'pg';
import type { Mode } from '#event-sourcing/core/request-context.js';
import { POSTGRES } from '#platform/postgres/pool.js';
import { GetExternalId } from '#readings/contracts/index.js';
import {
  FindToldEvent,
  ListNewestEvents,
  type ToldEvent,
  PUBLIC_EVENT_TYPES,
  isNotice,
  type DeliveredType,
} from '../contracts/index.js';
import { NOTICE_PAUSE_MS } from '../domain/notice.js';
import { withExternalId } from '../domain/public-event.js';

/** SQL: whether a notice was told of this occurrence, or of this subject shortly before. @param fact SQL: the notice's row */
export const wasTold = (fact: string): string => `
  exists (
    select from webhooks.notice told
    where told.workspace_id = ${fact}.workspace_id and told.type = ${fact}.type and told.subject = ${fact}.subject
      and (told.occurrence = ${fact}.occurrence
           or told.occurred_at > ${fact}.occurred_at - ${NOTICE_PAUSE_MS} * interval '1 millisecond'))`;

/** SQL: whether retention has deleted an event or notice, or would have. @param fact SQL: a row of one */
export const wasDeleted = (fact: string): string => `
  exists (
    select from webhooks.deleted_past past
    where past.workspace_id = ${fact}.workspace_id and past.livemode = ${fact}.livemode and past.type = ${fact}.type
      and past.until > ${fact}.occurred_at)`;

/** SQL: the highest position that retention has deleted from the feed of events of the fact's workspace. */
export const lastDeletedPosition = (fact: string): string => `
  (select max(position) from webhooks.deleted_past past
   where past.workspace_id = ${fact}.workspace_id
     and past.type in (${PUBLIC_EVENT_TYPES.map((type) => `'${type}'`).join()}))`;

/**
 * What retention has deleted, as far as the workspace may know it: the highest position, and since when all is kept (RFC 3339);
 * `null`: nothing. @param types `null`: all
 */
export const deletedPast = async (
  pool: pg.Pool,
  workspaceId: string,
  types: readonly DeliveredType[] | null,
  modes: readonly Mode[],
): Promise<{ readonly position: string; readonly keptSince: string } | null> => {
  const { rows } = await pool.query<{ position: string | null; until: Date | null }>(
    `select max(position)::text as position, max(until) as until from webhooks.deleted_past
     where workspace_id = $1 and ($2::text[] is null or type = any ($2))
       and case when livemode then 'live' else 'test' end = any ($3)`,
    [workspaceId, types, modes],
  );
  const { position, until } = rows[0]!;
  return position === null || until === null ? null : { position, keptSince: until.toISOString() };
};

const EVENT = `told.position::text, told.body, told.reading_id as "readingId",
  told.shows_external_id as "showsExternalId" from webhooks.public_event told`;
const NOTICE = `told.position::text, told.body, null::uuid as "readingId", false as "showsExternalId"
  from webhooks.notice told`;

/**
 * SQL: a page of events, or of notices, of workspace $1 from position $2 on (exclusive; null: from the end), $3 at most. It is
 * the union of a query for each type and mode. An index has the rows of each in order, so a page reads as many of each as
 * it shows. The values stand in the text: of parameters the planner knows less, and may walk through the feed instead.
 * @param types of a closed set, at least one; of events or of notices @param modes at least one
 */
const page = (types: readonly DeliveredType[], modes: readonly Mode[], order: 'asc' | 'desc'): string => {
  const [rows, position, last] = types.some(isNotice)
    ? [NOTICE, 'bigint', '9223372036854775807']
    : [EVENT, 'numeric', `'infinity'`];
  const isFollowing =
    order === 'asc'
      ? `told.position > coalesce($2::${position}, -1)`
      : `told.position < coalesce($2::${position}, ${last})`;
  const each = [...new Set(types)].flatMap((type) =>
    modes.map(
      (mode) => `
        (select ${rows}
         where workspace_id = $1 and ${mode === 'live' ? '' : 'not '}livemode and type = '${type}' and ${isFollowing}
         order by told.position ${order} limit $3)`,
    ),
  );
  return `select * from (${each.join(' union all ')}) each order by each.position::numeric ${order} limit $3`;
};

/** A page of events, or of notices; of each either order. @param from a position in decimal, exclusive; `null`: from the end */
export const pageOfFeed = async (
  pool: pg.Pool,
  workspaceId: string,
  limit: number,
  from: string | null,
  types: readonly DeliveredType[],
  modes: readonly Mode[],
  order: 'asc' | 'desc' = 'asc',
): Promise<readonly ToldEvent[]> =>
  modes.length === 0
    ? []
    : (await pool.query<ToldEvent>(page(types, modes, order), [workspaceId, from, limit])).rows;

@QueryHandler(ListNewestEvents)
export class ListNewestEventsHandler implements IQueryHandler<ListNewestEvents> {
  constructor(@Inject(POSTGRES) private readonly pool: pg.Pool) {}

  async execute(query: ListNewestEvents): Promise<readonly ToldEvent[]> {
    const { workspaceId, mode, types, limit, before } = query;
    return pageOfFeed(this.pool, workspaceId, limit, before, types, [mode], 'desc');
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

/**
 * The bytes that receivers get, as UTF-8 text. An external id is personal, so no body is stored with it: it comes from the
 * reading's sealed input, which never changes. Every attempt has the same bytes until the reading is erased; then the
 * external id is null. @throws StoreUnavailable when the reading or its key cannot be read now
 */
export const wholeBody = async (
  { readingId, body, showsExternalId }: Pick<ToldEvent, 'readingId' | 'body' | 'showsExternalId'>,
  queries: Pick<QueryBus, 'execute'>,
): Promise<string> =>
  showsExternalId && readingId !== null
    ? withExternalId(body, await queries.execute(new GetExternalId(readingId)))
    : body;

export const FEED_QUERIES = [ListNewestEventsHandler, FindToldEventHandler];
