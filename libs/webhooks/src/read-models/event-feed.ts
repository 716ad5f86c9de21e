import { Inject, Injectable } from '@nestjs/common';
import type pg from 'pg';
import { QueryHandler, type IQueryHandler, type QueryBus } from '@nestjs/cqrs';
import type { Mode } from '#event-sourcing/core/mode.js';
import { POSTGRES } from '#platform/postgres/pool.js';
import { GetExternalId } from '#readings/contracts/index.js';
import { NOTICE_PAUSE_MS } from '../domain/notice.js';
import {
  PUBLIC_EVENT_TYPES,
  type DeliveredType,
  type PublicEventType,
  type NoticeType,
  isNotice,
} from '../contracts/events.js';
import type { DeliveryNotFound, NoLongerKept } from '../contracts/refusals.js';
import { FindToldEvent, ListNewestEvents, type ToldEvent } from '../contracts/deliveries.js';
import { withExternalId } from '../domain/public-event.js';

/**
 * SQL: whether a notice was told before: of this occurrence, or of this subject a short time ago.
 * @param fact SQL: a row with workspace_id, type, subject, occurrence and occurred_at
 */
export const wasTold = (fact: string): string => `
  exists (
    select from webhooks.notice told
    where told.workspace_id = ${fact}.workspace_id and told.type = ${fact}.type and told.subject = ${fact}.subject
      and (told.occurrence = ${fact}.occurrence
           or told.occurred_at > ${fact}.occurred_at - ${NOTICE_PAUSE_MS} * interval '1 millisecond'))`;

/**
 * SQL: whether retention has deleted an event or a notice, or would have: it happened before the last one of its kind that
 * was deleted.
 * @param fact SQL: a row with workspace_id, livemode, type and occurred_at
 */
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

/**
 * SQL: the union of a query for each type and mode of a feed. An index has the rows of each in order, so a page reads as many
 * of each as it shows, and none that it does not ask for. The values stand in the text: of parameters the planner knows
 * less, and may walk through the feed instead.
 * @param types of a closed set, at least one
 * @param query gets the condition of a type and a mode
 */
export const unionOfEach = (
  types: readonly DeliveredType[],
  modes: readonly Mode[],
  query: (condition: string) => string,
): string =>
  [...new Set(types)]
    .flatMap((type) =>
      modes.map((mode) => `(${query(`${mode === 'live' ? '' : 'not '}livemode and type = '${type}'`)})`),
    )
    .join(' union all ');

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

/** A notice as it is pushed. */
export interface FeedNotice {
  /** Its place in the feed, in decimal. */
  readonly position: string;
  readonly body: string;
}

/**
 * The notices of a workspace, in the order in which they were told. Transactions add them one at a time, so no notice ever
 * appears before one that was already read.
 */
@Injectable()
export class NoticeFeed {
  constructor(@Inject(POSTGRES) private readonly pool: pg.Pool) {}

  /** @param after position in decimal; `null`: from the first */
  async page(
    workspaceId: string,
    limit: number,
    after: string | null,
    types: readonly NoticeType[],
    modes: readonly Mode[],
  ): Promise<readonly FeedNotice[]> {
    if (modes.length === 0) return [];
    const { rows } = await this.pool.query<FeedNotice>(
      `select told.position::text, told.body from (${unionOfEach(
        types,
        modes,
        (ofEach) => `
          select position, body from webhooks.notice
          where workspace_id = $1 and ${ofEach} and position > coalesce($2::bigint, -1)
          order by position limit $3`,
      )}) told
       order by told.position limit $3`,
      [workspaceId, after, limit],
    );
    return rows;
  }
}

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

/** A stored body. */
export interface StoredBody {
  /** `null` for a notice, which shows no external id. */
  readonly readingId: string | null;
  readonly body: string;
  /** Whether the external id of its reading belongs into the body. */
  readonly showsExternalId: boolean;
}

/**
 * The bytes that receivers get, as UTF-8 text. An external id is personal, so no body is stored with it: it comes from the
 * reading's sealed input, which never changes. Every attempt has the same bytes until the reading is erased; then the
 * external id is null. @throws StoreUnavailable when the reading or its key cannot be read now
 */
export const wholeBody = async (
  { readingId, body, showsExternalId }: StoredBody,
  queries: Pick<QueryBus, 'execute'>,
): Promise<string> =>
  showsExternalId && readingId !== null
    ? withExternalId(body, await queries.execute(new GetExternalId(readingId)))
    : body;
