import { Get, Param, Query, Req } from '@nestjs/common';
import { ApiOperation, ApiQuery } from '@nestjs/swagger';
import type { Request } from 'express';
import { setAbout } from '#platform/audit/personal-data.js';
import { Caller, type Principal } from '#platform/auth/authentication.js';
import { seesMode } from '#platform/auth/livemode.js';
import { Answers, Refuses } from '#platform/http/openapi/operation.js';
import { PageCursors } from '#platform/http/page-cursor.js';
import { DELIVERY_STATUSES } from '../../contracts/deliveries.js';
import { PUBLIC_EVENT_TYPES } from '../../contracts/event-types.js';
import { NOTICE_TYPES } from '../../contracts/notice-types.js';
import {
  LIVEMODE_SHOWN,
  readChoice,
  readFlag,
  readInstant,
  readModes,
  readUuid,
  type QueryValue,
} from '../../http/query-parameters.js';
import { problemOf } from '../../http/refusals.js';
import { EndpointRoutes, NamesDelivery, ReadsWebhooks } from '../../http/webhook-routes.js';
import { deliveryHistorySchema, deliveryPageSchema } from '../../http/webhook.schemas.js';
import { DeletedPast } from '../../read-models/deleted-past/deleted-past.js';
import { DeliveryRows, type DeliveryFilter } from '../../read-models/delivery/delivery-rows.js';

const DELIVERED_TYPES = [...PUBLIC_EVENT_TYPES, ...NOTICE_TYPES] as const;

@EndpointRoutes()
export class ShowDeliveriesController {
  constructor(
    private readonly rows: DeliveryRows,
    private readonly deleted: DeletedPast,
    private readonly cursors: PageCursors,
  ) {}

  @Get('deliveries')
  @ReadsWebhooks()
  @ApiOperation({
    operationId: 'listDeliveries',
    summary: 'List the deliveries to an endpoint',
    description:
      'Returns the newest first. A cursor is valid only with the same filters. With a filter that few deliveries pass, a page may have fewer than `limit`, or none, although more follow: the list ends where `nextCursor` is `null`.',
  })
  @ApiQuery({
    name: 'status',
    required: false,
    description: 'Comma-separated',
    schema: { type: 'array', items: { type: 'string', enum: [...DELIVERY_STATUSES] } },
    explode: false,
  })
  @ApiQuery({
    name: 'type',
    required: false,
    description: 'Comma-separated',
    schema: { type: 'array', items: { type: 'string', enum: [...DELIVERED_TYPES] } },
    explode: false,
  })
  @ApiQuery({ name: 'readingId', required: false, schema: { type: 'string', format: 'uuid' } })
  @ApiQuery({
    name: 'since',
    required: false,
    description: 'Created at or after this time',
    schema: { type: 'string', format: 'date-time' },
  })
  @ApiQuery({
    name: 'until',
    required: false,
    description: 'Created before this time',
    schema: { type: 'string', format: 'date-time' },
  })
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
}
