import { RateLimited } from '#platform/rate-limit/rate-limit.guard.js';
import { OneOf, OptionalField } from '#platform/http/body-rules.js';
import { ApiSchema, ApiOperation, ApiQuery } from '@nestjs/swagger';
import {
  PUBLIC_EVENT_TYPES,
  type PublicEventType,
  DELIVERY_STATUSES,
  NOTICE_TYPES,
  type DeliveryStatus,
  type DeliveredType,
  type WebhookRefusal,
} from '../contracts/index.js';
import { z } from 'zod';
import { apiPage, apiSchema, count, instant, text, uuid } from '#platform/http/openapi/api-schema.js';
import { ATTEMPT_ERRORS } from '../domain/attempt.js';
import { attemptsOf } from '../read-models/deliveries.js';
import { asRecord } from '#platform/postgres/as-record.js';
import { isUuid } from '#platform/text/uuid.js';
import type { Mode, RequestContext } from '#event-sourcing/core/request-context.js';
import {
  DELIVERY_ID,
  READING_ID,
  AT,
  deliveredType,
  orProblem,
  EndpointRoutes,
  WritesWebhooks,
  problemOf,
  NamesDelivery,
  ReadsWebhooks,
  ChoiceQuery,
  InstantQuery,
  LIVEMODE_SHOWN,
  readChoice,
  readFlag,
  readInstant,
  readModes,
  readUuid,
  type QueryValue,
} from './routes.js';
import { Inject, Injectable, HttpCode, Param, Post, Get, Query, Req } from '@nestjs/common';
import { CommandBus } from '@nestjs/cqrs';
import { randomUUID } from 'node:crypto';
import type pg from 'pg';
import type { Request } from 'express';
import { instant as rfc3339, type Clock } from '#event-sourcing/core/clock.js';
import { POSTGRES } from '#platform/postgres/pool.js';
import { CLOCK } from '#platform/tokens.js';
import { PrepareTrialReading } from '#readings/contracts/index.js';
import {
  Caller,
  StandingCaller,
  type Principal,
  type StandingPrincipal,
} from '#platform/auth/authentication.js';
import { Answers, Refuses } from '#platform/http/openapi/operation.js';
import { setAbout } from '#platform/audit/personal-data.js';
import { seesMode } from '#platform/auth/livemode.js';
import { PageCursors } from '#platform/http/page-cursor.js';
import { madeUpEvent } from '../domain/public-event.js';
import {
  isReferenced,
  showsExternalIds,
  storedBody,
  INSERT_SKIPPED,
  OPEN_ENDPOINT,
  sendNow,
  NEVER_ATTEMPTED,
  ALL_DELIVERIES,
  ATTEMPTS,
} from '../read-models/delivery-sql.js';
import { Endpoints, type EndpointOwner } from '../application/endpoints.js';
import { withAdvisoryLock } from '../application/serialized.js';

const attempt = z.object({
  number: z.int().min(1).describe('Counts the attempts of the delivery'),
  startedAt: instant().describe('When the request was sent'),
  durationMs: count().describe('Milliseconds until the answer or the failure'),
  statusCode: z.int().nullable().describe('null: the receiver did not answer'),
  error: z.enum(ATTEMPT_ERRORS).nullable().describe('null: the attempt succeeded'),
});

const delivery = z.object({
  deliveryId: uuid().describe('Names the delivery in paths'),
  eventId: text(/^evt_/).describe('The event or notice that it delivers'),
  type: deliveredType().describe('The type of the event or notice'),
  readingId: uuid().nullable().describe('The reading that the event is about; null for a notice'),
  livemode: z.boolean().describe('False for an event of a test reading'),
  sequence: count().describe('Number of the event among the public events of the reading; 0 for a notice'),
  status: z.enum(DELIVERY_STATUSES).describe('Where the delivery stands; only `pending` changes'),
  attempts: count().describe('Attempts so far'),
  nextAttemptAt: instant().nullable().describe('When the next attempt is due; null once settled'),
  test: z.boolean().describe('Whether `POST …/test` created it'),
  redelivery: z.boolean().describe('Whether a person asked to send it again'),
  replayId: uuid().nullable().describe('The replay that created the delivery'),
  createdAt: instant().describe('When it was created'),
  settledAt: instant().nullable().describe('When its status became final'),
  lastAttempt: attempt.nullable().describe('The newest attempt'),
});

type AttemptRecord = z.infer<typeof attempt>;
/** A delivery as the endpoint's owner sees it: of each response only the class of error and the status. */
type DeliveryRecord = z.infer<typeof delivery>;

const attemptExample: AttemptRecord = {
  number: 1,
  startedAt: AT,
  durationMs: 84,
  statusCode: 204,
  error: null,
};
const deliveryExample: DeliveryRecord = {
  deliveryId: DELIVERY_ID,
  eventId: 'evt_9a1b6f0e-52c7-5d38-8e0a-1f4b7c2d9e60',
  type: 'reading.completed',
  readingId: READING_ID,
  livemode: true,
  sequence: 1,
  status: 'succeeded',
  attempts: 1,
  nextAttemptAt: null,
  test: false,
  redelivery: false,
  replayId: null,
  createdAt: AT,
  settledAt: AT,
  lastAttempt: attemptExample,
};

export const deliverySchema = apiSchema<DeliveryRecord>(
  'Delivery',
  delivery,
  'The delivery of one event to one endpoint.',
  deliveryExample,
);

const deliveryPageSchema = apiPage(
  'DeliveryPage',
  deliverySchema,
  'Deliveries, newest first.',
  deliveryExample,
);

const deliveryHistorySchema = apiSchema<DeliveryRecord & { history: readonly AttemptRecord[] }>(
  'DeliveryHistory',
  delivery.extend({ history: z.array(attempt).describe('Every attempt, oldest first') }),
  'A delivery with all its attempts.',
  { ...deliveryExample, history: [attemptExample] },
);

/** Body of POST …/test. */
@ApiSchema({ name: 'SendTestEvent' })
export class SendTestEventDto {
  @OptionalField(OneOf(PUBLIC_EVENT_TYPES, 'unsupported_event_type'), {
    enum: PUBLIC_EVENT_TYPES,
    default: 'reading.completed',
    description: 'The type of the event to send',
    examples: ['reading.published'],
  })
  type: PublicEventType = 'reading.completed';
}

/** Filters of a list of deliveries; `null` and `false` do not filter. */
export interface DeliveryFilter {
  readonly statuses: readonly DeliveryStatus[] | null;
  readonly types: readonly DeliveredType[] | null;
  readonly readingId: string | null;
  /** Created at or after, and before (RFC 3339). */
  readonly since: string | null;
  readonly until: string | null;
  /** Only deliveries of events that have not reached the endpoint, by this or another delivery. */
  readonly undelivered: boolean;
  /** Of readings of these modes. Trials are in every list. */
  readonly modes: readonly Mode[];
}

/** A delivery with the fields of its last attempt; `number` is null when there was none. */
type Row = Omit<DeliveryRecord, 'lastAttempt'> &
  Omit<AttemptRecord, 'number'> & { readonly number: number | null };

/** The last delivery that was scanned, and how many were. */
interface ScanEnd {
  readonly scanned: string;
  readonly end_created_at: Date;
  readonly end_delivery_id: string;
}

/** SQL: deliveries with their events and last attempts. @param deliveries a query or table, under the name `delivery` */
const selectFrom = (deliveries: string): string => `
  select delivery.delivery_id as "deliveryId", event_id as "eventId", event.type, event.reading_id as "readingId",
         event.livemode, event.sequence, delivery.status, delivery.attempts,
         case when delivery.status = 'pending' then delivery.due_at end as "nextAttemptAt", delivery.test,
         delivery.redelivery, delivery.replay_id as "replayId", delivery.created_at as "createdAt",
         delivery.settled_at as "settledAt", last.number, last.started_at as "startedAt",
         last.duration_ms as "durationMs", last.status_code as "statusCode", last.error
  from ${deliveries}
  join webhooks.public_event event using (event_id)
  left join lateral (${ATTEMPTS} order by number desc limit 1) last on true`;

/** Tokens of the policy `read` that a list takes: with a filter, it looks at many more deliveries than it shows. */
const LIST_COST = 5;

/** With more events than this of the wanted types, deliveries are looked for among all of the endpoint. */
const FEW = 1_000;

/** Deliveries of the endpoint that a page with a filter scans: of many that pass no filter, a page shows fewer, or none. */
const SCANNED = 1_000;

/** A literal: the planner matches the partial index of unsuccessful deliveries by query text, not by parameters. */
const UNSUCCEEDED = `and status <> 'succeeded'`;
const mayHaveSucceeded = ({ statuses, undelivered }: DeliveryFilter): boolean =>
  !undelivered && (statuses === null || statuses.includes('succeeded'));

/** A delivery of this endpoint, or `null`, also for a delivery of another endpoint. */
const findDelivery = async (
  pool: pg.Pool,
  endpointId: string,
  deliveryId: string,
): Promise<DeliveryRecord | null> => {
  if (!isUuid(deliveryId)) return null;
  const { rows } = await pool.query<Row>(
    `${selectFrom(ALL_DELIVERIES)} where delivery.delivery_id = $1 and delivery.endpoint_id = $2`,
    [deliveryId, endpointId],
  );
  return rows[0] ? recordOf(rows[0]) : null;
};

export const deliveryWithHistory = async (pool: pg.Pool, endpointId: string, deliveryId: string) => {
  const record = await findDelivery(pool, endpointId, deliveryId);
  if (!record) return null;
  const { rows } = await pool.query<object>(attemptsOf(), [deliveryId]);
  return { ...record, history: rows.map((row) => asRecord<AttemptRecord>(row)) };
};

/** @returns `after`: where the list goes on when the filter passed fewer than `limit` of those scanned; `null`: it ends */
export const pageOfDeliveries = async (
  pool: pg.Pool,
  endpointId: string,
  limit: number,
  after: readonly string[] | null,
  filter: DeliveryFilter,
): Promise<{ readonly records: readonly DeliveryRecord[]; readonly after: readonly string[] | null }> => {
  const eventIds = await eventsOf(pool, endpointId, filter);
  if (eventIds?.length === 0) return { records: [], after: null };
  const { rows } = await pool.query<(Row | { readonly deliveryId: null }) & ScanEnd>(
    `with walked as materialized (
       select * from ${ALL_DELIVERIES}
       where endpoint_id = $1
         ${eventIds === null ? 'and $4::text[] is null' : 'and event_id = any ($4)'}
         and ($2::timestamptz is null or (created_at, delivery_id) < ($2, $3))
         ${mayHaveSucceeded(filter) ? '' : UNSUCCEEDED}
         and created_at >= coalesce($5::timestamptz, '-infinity') and created_at < coalesce($6::timestamptz, 'infinity')
       order by created_at desc, delivery_id desc limit ${SCANNED}
     ), found as (
       ${selectFrom('walked delivery')}
       where ($7::text[] is null or delivery.status = any ($7))
         and ($8::text[] is null or event.type = any ($8))
         and (delivery.test or event.livemode = any ($9::boolean[]))
         and (not $10 or not exists (
           select from webhooks.settled_delivery other
           where other.endpoint_id = delivery.endpoint_id and other.event_id = delivery.event_id
             and other.status = 'succeeded'))
       order by delivery.created_at desc, delivery.delivery_id desc
       limit $11
     )
     select found.*, scanned, end_created_at, end_delivery_id
     from (select count(*) over () as scanned, created_at as end_created_at, delivery_id as end_delivery_id
           from walked order by created_at, delivery_id limit 1) last
     left join found on true
     order by found."createdAt" desc, found."deliveryId" desc`,
    [
      ...[endpointId, after?.[0] ?? null, after?.[1] ?? null, eventIds, filter.since, filter.until],
      ...[filter.statuses, filter.types, filter.modes.map((mode) => mode === 'live'), filter.undelivered],
      limit,
    ],
  );
  const records = rows.filter((row): row is Row & ScanEnd => row.deliveryId !== null).map(recordOf);
  const [end] = rows;
  const isAll = !end || Number(end.scanned) < SCANNED || records.length >= limit;
  return { records, after: isAll ? null : [end.end_created_at.toISOString(), end.end_delivery_id] };
};

/** The events of a filter that few deliveries pass, instead of a walk through all deliveries. `null`: it passes many, or all. */
const eventsOf = async (
  pool: pg.Pool,
  endpointId: string,
  { readingId, types }: DeliveryFilter,
): Promise<readonly string[] | null> => {
  const found = async (where: string, ...values: unknown[]): Promise<readonly string[]> => {
    const { rows } = await pool.query<{ event_id: string }>(
      `select event_id from webhooks.public_event where ${where}`,
      values,
    );
    return rows.map((row) => row.event_id);
  };
  // Its facts first; of its trials, of which there may be any number, as many as fit.
  if (readingId !== null) return found(`reading_id = $1 order by sequence desc limit ${FEW}`, readingId);
  if (types === null) return null;
  const ofTypes = await found(
    `workspace_id = (select workspace_id from webhooks.endpoint where endpoint_id = $1)
       and livemode in (true, false) and type = any ($2)
     limit ${FEW + 1}`,
    endpointId,
    types,
  );
  return ofTypes.length > FEW ? null : ofTypes;
};

const recordOf = (row: Row & Partial<ScanEnd>): DeliveryRecord => {
  const { scanned: _, end_created_at: __, end_delivery_id: ___, ...shown } = row;
  const { number, startedAt, durationMs, statusCode, error, ...delivery } = asRecord<Row>(shown);
  const lastAttempt = number === null ? null : { number, startedAt, durationMs, statusCode, error };
  return { ...delivery, lastAttempt };
};

/**
 * Adds a delivery of event $3, skipped at once when the endpoint is closed. $4: when it is due, $5: its id, $6: the queue in
 * which it waits, $7: whether it is a trial, $8: or a redelivery.
 */
const ADD = `
  with ${OPEN_ENDPOINT}, event as (
    select event_id, workspace_id, sequence, is_open from webhooks.public_event cross join open_endpoint
    where event_id = $3
    for key share of public_event
  ), skipped as (${INSERT_SKIPPED}
    select $5, $1, event_id, 'skipped', 0, $7, $8, $4::timestamptz, $4::timestamptz from event where not is_open
  )
  insert into webhooks.delivery (delivery_id, endpoint_id, workspace_id, event_id, reading_id, sequence, status,
                                 due_at, test, redelivery, created_at)
  select $5, $1, workspace_id, event_id, $6::uuid, sequence, 'pending', $4::timestamptz, $7, $8, $4::timestamptz
  from event where is_open`;

/** Trials that may wait to be sent to each endpoint: they are free of charge. */
const TRIALS_PER_ENDPOINT = 10;

/** A pending redelivery counts as the requested one. So does a skipped one while the endpoint is disabled. */
const FIND = `
  with ${OPEN_ENDPOINT}
  select delivery_id from ${ALL_DELIVERIES} cross join open_endpoint
  where endpoint_id = $1 and event_id = $3 and redelivery and replay_id is null
    and (status = 'pending' or status = 'skipped' and attempts = 0 and not is_open)
  order by created_at limit 1`;

/** Makes a scheduled redelivery due now. */
const SEND_NOW = `
  update webhooks.delivery set due_at = $2 where delivery_id = $1 and status = 'pending' and due_at > $2`;

/** A redelivery that was skipped without an attempt is replaced. */
const REMOVE_SKIPPED = `
  delete from webhooks.settled_delivery unsent
  where endpoint_id = $1 and event_id = $3 and redelivery and replay_id is null and ${NEVER_ATTEMPTED}
    and delivery_id <> $4 and $2`;

/** Why a delivery is not found: deleted after its term or with its event, or the younger endpoint never had it. */
const whyNotFound = async (
  pool: pg.Pool,
  endpointId: string,
  modes: readonly Mode[],
): Promise<WebhookRefusal> => {
  const { rows } = await pool.query<{ since: Date }>(
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
};

/** Deliveries that a person asks for. Their owner sees some modes: without test, the external id of a test reading is not shown. */
@Injectable()
export class RequestedDeliveries {
  constructor(
    private readonly endpoints: Endpoints,
    private readonly commands: CommandBus,
    @Inject(POSTGRES) private readonly pool: pg.Pool,
    @Inject(CLOCK) private readonly clock: Clock,
  ) {}

  /** Sends an endpoint a trial: an event about a test reading, which is made if the workspace has none. */
  async sendTrial(endpointId: string, owner: EndpointOwner, type: PublicEventType, by: RequestContext) {
    const { workspaceId, sees } = owner;
    const trial = await this.commands.execute(new PrepareTrialReading(workspaceId, by));
    // Its key may have ended while a reading was made.
    await owner.stands?.();
    if (trial.outcome !== 'ready') return trial;
    const known = await this.endpoints.findFor(endpointId, owner);
    if (known.outcome !== 'found') return known;
    const occurredAt = rfc3339(this.clock.now());
    // A queue of its own: neither does a trial wait for events of the reading, nor they for it.
    const [eventId, queue, deliveryId] = [`evt_${randomUUID()}`, randomUUID(), randomUUID()];
    const { readingId, bodyHead, bodyTail } = madeUpEvent(
      { eventId, type, workspaceId, occurredAt },
      { readingId: trial.readingId, livemode: false, document: trial.document },
      { trial: true },
    );
    const isQueued = await withAdvisoryLock(this.pool, owner, endpointId, async (client) => {
      const waiting = await client.query(
        `select from webhooks.delivery where endpoint_id = $1 and status = 'pending' and test limit $2`,
        [endpointId, TRIALS_PER_ENDPOINT],
      );
      if (waiting.rowCount === TRIALS_PER_ENDPOINT) return false;
      await client.query(
        `insert into webhooks.public_event (event_id, workspace_id, reading_id, type, sequence, body, occurred_at,
                                            livemode, shows_external_id)
         select $1, $2, $3::uuid, $4, 0, ${storedBody('$5::text', 'shows', 'is_referenced')}, $6::timestamptz, false,
                shows and is_referenced
         from (select ${showsExternalIds('$2')} as shows,
                      $7::boolean and ${isReferenced('$3::uuid')} as is_referenced) reference`,
        [eventId, workspaceId, readingId, type, `${bodyHead}0${bodyTail}`, occurredAt, sees.includes('test')],
      );
      const delivery = [deliveryId, queue, true, false];
      await client.query(ADD, [endpointId, known.record.enabled, eventId, occurredAt, ...delivery]);
      await sendNow(client, endpointId, workspaceId, occurredAt);
      return true;
    });
    if (!isQueued) return { outcome: 'too_many_test_events', limit: TRIALS_PER_ENDPOINT } as const;
    return { outcome: 'queued', delivery: (await findDelivery(this.pool, endpointId, deliveryId))! } as const;
  }

  /** Sends the event of a delivery once more. A redelivery that is already waiting is sent at once instead. */
  async sendAgain(endpointId: string, deliveryId: string, owner: EndpointOwner) {
    const { workspaceId, sees } = owner;
    const known = await this.endpoints.findFor(endpointId, owner);
    if (known.outcome !== 'found') return known;
    const first = await findDelivery(this.pool, endpointId, deliveryId);
    if (!first || !(first.test || seesMode({ sees }, first.livemode)))
      return whyNotFound(this.pool, endpointId, sees);
    const { enabled, modes } = known.record;
    const receives = enabled && (first.test || seesMode({ sees: modes }, first.livemode));
    const at = rfc3339(this.clock.now());
    const again = await withAdvisoryLock(this.pool, owner, endpointId, async (client) => {
      const of = [endpointId, receives, first.eventId];
      const found = await client.query<{ delivery_id: string }>(FIND, of);
      const waiting = found.rows[0]?.delivery_id;
      const id = waiting ?? randomUUID();
      if (waiting) await client.query(SEND_NOW, [waiting, at]);
      else {
        await client.query(REMOVE_SKIPPED, [...of, deliveryId]);
        await client.query(ADD, [...of, at, id, first.readingId ?? id, first.test, true]);
      }
      await sendNow(client, endpointId, workspaceId, at);
      return id;
    });
    return { outcome: 'queued', delivery: (await findDelivery(this.pool, endpointId, again))! } as const;
  }
}

const DELIVERED_TYPES = [...PUBLIC_EVENT_TYPES, ...NOTICE_TYPES] as const;

@EndpointRoutes()
export class DeliveriesController {
  constructor(
    private readonly requested: RequestedDeliveries,
    private readonly cursors: PageCursors,
    @Inject(POSTGRES) private readonly pool: pg.Pool,
  ) {}

  @Get('deliveries')
  @ReadsWebhooks()
  @RateLimited('read', LIST_COST)
  @ApiOperation({
    operationId: 'listDeliveries',
    summary: 'List the deliveries to an endpoint',
    description:
      'Returns the newest first. A cursor is valid only with the same filters. With a filter that few deliveries pass, a page may have fewer than `limit`, or none, although more follow: the list ends where `nextCursor` is `null`. Counts as 5 requests of the policy `read`.',
  })
  @ChoiceQuery('status', DELIVERY_STATUSES)
  @ChoiceQuery('type', DELIVERED_TYPES)
  @ApiQuery({ name: 'readingId', required: false, schema: { type: 'string', format: 'uuid' } })
  @InstantQuery('since', 'Created at or after this time')
  @InstantQuery('until', 'Created before this time')
  @ApiQuery({
    name: 'undelivered',
    required: false,
    description: 'Only deliveries of events that have not reached the endpoint by any delivery',
    schema: { type: 'boolean', default: false },
  })
  @ApiQuery(LIVEMODE_SHOWN)
  @Answers(200, 'A page of deliveries', deliveryPageSchema)
  @Refuses('unsupported_event_type')
  async list(
    @Param('endpointId') endpointId: string,
    @Query('limit') limit: string | undefined,
    @Query('cursor') cursor: string | undefined,
    @Query() query: Readonly<Record<string, QueryValue>>,
    @Caller() caller: Principal,
  ) {
    const filter: DeliveryFilter = {
      statuses: readChoice('status', query['status'], DELIVERY_STATUSES),
      types: readChoice('type', query['type'], DELIVERED_TYPES, 'unsupported_event_type'),
      readingId: readUuid('readingId', query['readingId']),
      since: readInstant('since', query['since']),
      until: readInstant('until', query['until']),
      undelivered: readFlag('undelivered', query['undelivered']),
      modes: readModes(query['livemode'], caller),
    };
    const scope = ['deliveries', caller.workspaceId, endpointId, JSON.stringify(filter)];
    const page = this.cursors.read(limit, cursor, ...scope);
    const { records, after } = await pageOfDeliveries(
      this.pool,
      endpointId,
      page.limit + 1,
      page.after,
      filter,
    );
    const endOf = ({ createdAt, deliveryId }: (typeof records)[0]) => [createdAt, deliveryId];
    const shown = this.cursors.page(records, page.limit, endOf, ...scope);
    return after === null ? shown : { ...shown, nextCursor: this.cursors.seal(after, ...scope) };
  }

  @Get('deliveries/:deliveryId')
  @ReadsWebhooks()
  @ApiOperation({
    operationId: 'getDelivery',
    summary: 'Get a delivery with all its attempts',
    description: 'Of a receiver’s answers, shows only the status and the class of error.',
  })
  @NamesDelivery()
  @Refuses('no_longer_kept')
  @Answers(200, 'The delivery', deliveryHistorySchema)
  async one(
    @Param('endpointId') endpointId: string,
    @Param('deliveryId') deliveryId: string,
    @Caller() caller: Principal,
    @Req() request: Request,
  ) {
    const record = await deliveryWithHistory(this.pool, endpointId, deliveryId);
    if (!record || !(record.test || seesMode(caller, record.livemode)))
      throw problemOf(await whyNotFound(this.pool, endpointId, caller.sees));
    if (record.readingId) setAbout(request, record.readingId);
    return record;
  }

  @Post('deliveries/:deliveryId/redeliver')
  @WritesWebhooks()
  @HttpCode(202)
  @ApiOperation({
    operationId: 'redeliver',
    summary: 'Send a delivery again',
    description:
      'Creates a new delivery of the same event, with the same id and bytes. A redelivery that is already waiting is sent at once instead.',
  })
  @NamesDelivery()
  @Refuses('no_longer_kept')
  @Answers(202, 'The new delivery is queued', deliverySchema)
  async redeliver(
    @Param('endpointId') endpointId: string,
    @Param('deliveryId') deliveryId: string,
    @StandingCaller() caller: StandingPrincipal,
  ) {
    return orProblem(await this.requested.sendAgain(endpointId, deliveryId, caller)).delivery;
  }
}
