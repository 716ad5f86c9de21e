import { Inject, Injectable, HttpCode, Param, Post, Get, Query, Req } from '@nestjs/common';
import { CommandBus } from '@nestjs/cqrs';
import { randomUUID } from 'node:crypto';
import type pg from 'pg';
import { ApiBody, ApiOperation, ApiQuery } from '@nestjs/swagger';
import type { Request } from 'express';
import type { RequestContext } from '#event-sourcing/core/request-context.js';
import { instant, type Clock } from '#event-sourcing/core/clock.js';
import { POSTGRES, transaction } from '#platform/postgres/pool.js';
import { CLOCK } from '#platform/tokens.js';
import { PrepareTrialReading } from '#readings/contracts/index.js';
import { Caller, requireStanding, type Principal } from '#platform/auth/authentication.js';
import { Answers, Refuses } from '#platform/http/openapi/operation.js';
import { Requester } from '#platform/http/requester.js';
import { RateLimited } from '#platform/rate-limit/rate-limit.guard.js';
import { OptionalBody } from '#platform/http/optional-body.pipe.js';
import { setAbout } from '#platform/audit/personal-data.js';
import { seesMode } from '#platform/auth/livemode.js';
import { PageCursors } from '#platform/http/page-cursor.js';
import { type PublicEventType, PUBLIC_EVENT_TYPES, NOTICE_TYPES } from '../contracts/events.js';
import type {
  EndpointRefusal,
  TooManyTestEvents,
  TrialRefusal,
  DeliveryNotFound,
  NoLongerKept,
} from '../contracts/refusals.js';
import { type DeliveryRecord, DeliveryRows, type DeliveryFilter } from '../read-models/deliveries.js';
import { madeUpEvent } from '../domain/public-event.js';
import {
  isReferenced,
  showsExternalIds,
  storedBody,
  INSERT_SKIPPED,
  lockRequestsOf,
  OPEN_ENDPOINT,
  sendNow,
  NEVER_ATTEMPTED,
  ALL_DELIVERIES,
} from '../read-models/delivery-sql.js';
import { EndpointAccess, type EndpointOwner } from './endpoint-access.js';
import {
  orProblem,
  EndpointRoutes,
  WritesWebhooks,
  problemOf,
  NamesDelivery,
  ReadsWebhooks,
} from '../http/routes.js';
import { deliverySchema, deliveryHistorySchema, deliveryPageSchema } from '../http/webhook.schemas.js';
import { SendTestEventDto } from '../http/bodies.js';
import { DELIVERY_STATUSES } from '../contracts/deliveries.js';
import {
  ChoiceQuery,
  InstantQuery,
  LIVEMODE_SHOWN,
  readChoice,
  readFlag,
  readInstant,
  readModes,
  readUuid,
  type QueryValue,
} from '../http/query-parameters.js';
import { DeletedPast } from '../read-models/event-feed.js';

type SendTestEventResult =
  | { readonly outcome: 'queued'; readonly delivery: DeliveryRecord }
  | EndpointRefusal
  | TooManyTestEvents
  | TrialRefusal;

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

/** Sends an endpoint a trial: an event about a test reading, which is made if the workspace has none. */
@Injectable()
export class Trials {
  constructor(
    private readonly access: EndpointAccess,
    private readonly deliveries: DeliveryRows,
    private readonly commands: CommandBus,
    @Inject(POSTGRES) private readonly pool: pg.Pool,
    @Inject(CLOCK) private readonly clock: Clock,
  ) {}

  /**
   * @param sees the modes that the caller sees: without test, the external id of the reading is not shown
   * @param stands throws when the caller's key has ended, which it may have while a reading is made
   */
  async send(
    endpointId: string,
    owner: EndpointOwner,
    type: PublicEventType,
    by: RequestContext,
    stands: () => Promise<void>,
  ): Promise<SendTestEventResult> {
    const { workspaceId, sees } = owner;
    const trial = await this.commands.execute(new PrepareTrialReading(workspaceId, by));
    await stands();
    if (trial.outcome !== 'ready') return trial;
    const known = await this.access.findFor(endpointId, owner);
    if (known.outcome !== 'found') return known;
    const occurredAt = instant(this.clock.now());
    // A queue of its own: neither does a trial wait for events of the reading, nor they for it.
    const [eventId, queue, deliveryId] = [`evt_${randomUUID()}`, randomUUID(), randomUUID()];
    const { readingId, bodyHead, bodyTail } = madeUpEvent(
      { eventId, type, workspaceId, occurredAt },
      { readingId: trial.readingId, livemode: false, document: trial.document },
      { trial: true },
    );
    const isQueued = await transaction(this.pool, async (client) => {
      await lockRequestsOf(client, endpointId);
      if (!(await this.hasSlot(client, endpointId))) return false;
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
    return isQueued
      ? { outcome: 'queued', delivery: (await this.deliveries.find(endpointId, deliveryId))! }
      : { outcome: 'too_many_test_events', limit: TRIALS_PER_ENDPOINT };
  }

  private async hasSlot(client: pg.PoolClient, endpointId: string): Promise<boolean> {
    const { rowCount } = await client.query(
      `select from webhooks.delivery where endpoint_id = $1 and status = 'pending' and test limit $2`,
      [endpointId, TRIALS_PER_ENDPOINT],
    );
    return (rowCount ?? 0) < TRIALS_PER_ENDPOINT;
  }
}

/** Tokens of the policy `manage` that a trial takes: unlike deliveries, none waits longer because others failed. */
const COST = 10;

@EndpointRoutes()
export class SendTestEventController {
  constructor(private readonly trials: Trials) {}

  @Post('test')
  @WritesWebhooks()
  @RateLimited('manage', COST)
  @HttpCode(202)
  @ApiOperation({
    operationId: 'sendTestEvent',
    summary: 'Send a trial to an endpoint',
    description:
      'The event is about a test reading of the workspace, which is made if there is none. Its result and document can be fetched with a test key. The body has `trial: true` and `livemode: false`, whatever the modes of the endpoint; the header `X-Service-Test` is `true`. A trial counts as 10 requests of the policy `manage`.',
  })
  @ApiBody({ type: SendTestEventDto, required: false })
  @Answers(202, 'The delivery is queued', deliverySchema)
  @Refuses('unsupported_event_type', 'insufficient_credits', 'billing_misconfigured')
  async test(
    @Param('endpointId') endpointId: string,
    @OptionalBody() { type }: SendTestEventDto,
    @Caller() caller: Principal,
    @Requester() by: RequestContext,
    @Req() request: Request,
  ) {
    const stands = () => requireStanding(request);
    return orProblem(await this.trials.send(endpointId, caller, type, by, stands)).delivery;
  }
}

const DELIVERED_TYPES = [...PUBLIC_EVENT_TYPES, ...NOTICE_TYPES] as const;

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

/** Sends the event of a delivery once more. A redelivery that is already waiting is sent at once instead. */
@Injectable()
export class Redeliveries {
  constructor(
    private readonly access: EndpointAccess,
    private readonly deliveries: DeliveryRows,
    private readonly deleted: DeletedPast,
    @Inject(POSTGRES) private readonly pool: pg.Pool,
    @Inject(CLOCK) private readonly clock: Clock,
  ) {}

  /** @param caller the modes whose events it may send again @returns `delivery`: new, or the one that was already waiting */
  async queue(
    endpointId: string,
    deliveryId: string,
    owner: EndpointOwner,
  ): Promise<
    | { readonly outcome: 'queued'; readonly delivery: DeliveryRecord }
    | EndpointRefusal
    | DeliveryNotFound
    | NoLongerKept
  > {
    const { workspaceId, sees } = owner;
    const known = await this.access.findFor(endpointId, owner);
    if (known.outcome !== 'found') return known;
    const first = await this.deliveries.find(endpointId, deliveryId);
    if (!first || !(first.test || seesMode({ sees }, first.livemode)))
      return this.deleted.refusalOfDelivery(endpointId, sees);
    const { enabled, modes } = known.record;
    const receives = enabled && (first.test || seesMode({ sees: modes }, first.livemode));
    const at = instant(this.clock.now());
    const again = await transaction(this.pool, async (client) => {
      await lockRequestsOf(client, endpointId);
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
    return { outcome: 'queued', delivery: (await this.deliveries.find(endpointId, again))! };
  }
}

@EndpointRoutes()
export class DeliveriesController {
  constructor(
    private readonly rows: DeliveryRows,
    private readonly deleted: DeletedPast,
    private readonly cursors: PageCursors,
    private readonly redeliveries: Redeliveries,
  ) {}

  @Get('deliveries')
  @ReadsWebhooks()
  @ApiOperation({
    operationId: 'listDeliveries',
    summary: 'List the deliveries to an endpoint',
    description:
      'Returns the newest first. A cursor is valid only with the same filters. With a filter that few deliveries pass, a page may have fewer than `limit`, or none, although more follow: the list ends where `nextCursor` is `null`.',
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
    const { records, after } = await this.rows.page(endpointId, page.limit + 1, page.after, filter);
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
    const record = await this.rows.find(endpointId, deliveryId);
    if (!record || !(record.test || seesMode(caller, record.livemode)))
      throw problemOf(await this.deleted.refusalOfDelivery(endpointId, caller.sees));
    if (record.readingId) setAbout(request, record.readingId);
    return { ...record, history: await this.rows.attempts(deliveryId) };
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
    @Caller() caller: Principal,
  ) {
    return orProblem(await this.redeliveries.queue(endpointId, deliveryId, caller)).delivery;
  }
}
