import { Inject, Injectable } from '@nestjs/common';
import { QueryHandler, type IQueryHandler, type QueryBus } from '@nestjs/cqrs';
import type pg from 'pg';
import type { Mode } from '#event-sourcing/core/request-context.js';
import { POSTGRES } from '#platform/postgres/pool.js';
import { GetExternalId } from '#readings/contracts/index.js';
import { FindToldEvent, ListNewestEvents, type ToldEvent } from '../contracts/deliveries.js';
import { PUBLIC_EVENT_TYPES, isNotice, type DeliveredType } from '../contracts/events.js';
import type { DeliveryNotFound, NoLongerKept } from '../contracts/refusals.js';
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

/** What retention has deleted, as far as one workspace may know it. */
@Injectable()
export class DeletedPast {
  constructor(@Inject(POSTGRES) private readonly pool: pg.Pool) {}

  /** The highest deleted position, and since when all is kept (RFC 3339); `null`: nothing was deleted. @param types `null`: all */
  async ofFeed(
    workspaceId: string,
    types: readonly DeliveredType[] | null,
    modes: readonly Mode[],
  ): Promise<{ readonly position: string; readonly keptSince: string } | null> {
    const { rows } = await this.pool.query<{ position: string | null; until: Date | null }>(
      `select max(position)::text as position, max(until) as until from webhooks.deleted_past
       where workspace_id = $1 and ($2::text[] is null or type = any ($2))
         and case when livemode then 'live' else 'test' end = any ($3)`,
      [workspaceId, types, modes],
    );
    const { position, until } = rows[0]!;
    return position === null || until === null ? null : { position, keptSince: until.toISOString() };
  }

  /** Why a delivery is not found: deleted after its term or with its event, or the younger endpoint never had it. */
  async refusalOfDelivery(
    endpointId: string,
    modes: readonly Mode[],
  ): Promise<DeliveryNotFound | NoLongerKept> {
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
    return rows[0]
      ? { outcome: 'no_longer_kept', keptSince: rows[0].since.toISOString(), field: null }
      : { outcome: 'delivery_not_found' };
  }
}

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

type FoundEvent = Omit<ToldEvent, 'position'> & { readonly workspaceId: string };

const EVENT_ID = /^evt_[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/** Public events in log order, and notices as they were told. Either are added in order, so none appears before one already read. */
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

  /** A page, the oldest first. @param after position in decimal; `null`: from the first @param types of events, or of notices */
  async page(
    workspaceId: string,
    limit: number,
    after: string | null,
    types: readonly DeliveredType[],
    modes: readonly Mode[],
  ): Promise<readonly ToldEvent[]> {
    if (modes.length === 0) return [];
    return (await this.pool.query<ToldEvent>(page(types, modes, 'asc'), [workspaceId, after, limit])).rows;
  }
}

@QueryHandler(ListNewestEvents)
export class ListNewestEventsHandler implements IQueryHandler<ListNewestEvents> {
  constructor(@Inject(POSTGRES) private readonly pool: pg.Pool) {}

  async execute(query: ListNewestEvents): Promise<readonly ToldEvent[]> {
    const { workspaceId, mode, types, limit, before } = query;
    return (await this.pool.query<ToldEvent>(page(types, [mode], 'desc'), [workspaceId, before, limit])).rows;
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
