import { Controller, Get, HttpCode, Param, Post, Query, Res, UseGuards } from '@nestjs/common';
import { CommandBus } from '@nestjs/cqrs';
import { ApiBody, ApiOperation, ApiQuery, ApiTags } from '@nestjs/swagger';
import type { Response } from 'express';
import type { RequestContext } from '@app/event-sourcing/core/request-context.js';
import { Accepts, Caller, ScopeArea, type Principal } from '@app/platform/auth/authentication.js';
import { Answers, Names, Refuses } from '@app/platform/http/openapi/operation.js';
import { Requester } from '@app/platform/http/requester.js';
import { EndpointAccess } from '../application/endpoint-access.js';
import { Redeliver } from '../application/redeliver/redeliver.command.js';
import { RotateSecret } from '../application/rotate-secret/rotate-secret.command.js';
import { SendTestEvent } from '../application/send-test-event/send-test-event.command.js';
import { DELIVERY_STATUSES } from '../contracts/deliveries.js';
import { PUBLIC_EVENT_TYPES } from '../contracts/event-types.js';
import { DeliveryRows, type DeliveryFilter } from '../read-models/delivery/delivery-rows.js';
import { QueueHealth } from '../read-models/health/queue-health.js';
import { RotateSecretDto, SendTestEventDto } from './dto/webhook-endpoint.dto.js';
import { etagOf } from './if-match.js';
import { OptionalBody } from './optional-body.pipe.js';
import { PageCursors } from '@app/platform/http/page-cursor.js';
import { readChoice, readFlag, readInstant, readUuid, type QueryValue } from './query-parameters.js';
import { OwnEndpointGuard } from './own-endpoint.guard.js';
import { orProblem, problemOf } from './refusals.js';
import {
  deliveryHistorySchema,
  deliveryPageSchema,
  deliverySchema,
  endpointHealthSchema,
  NAMED_DELIVERY,
  NAMED_ENDPOINT,
  rotatedEndpointSchema,
} from './webhook.schemas.js';

/** What an endpoint's owner does to run it: rotate the secret, try it out, see what was sent, send again. */
@Controller('api/v1/webhooks/:endpointId')
@Accepts('apiKey', 'bearer')
@ScopeArea('webhooks')
@ApiTags('Webhooks')
@Names('endpointId', 'webhook_not_found', NAMED_ENDPOINT)
export class DeliveriesController {
  constructor(
    private readonly commands: CommandBus,
    private readonly access: EndpointAccess,
    private readonly rows: DeliveryRows,
    private readonly queues: QueueHealth,
    private readonly cursors: PageCursors,
  ) {}

  @Post('rotate-secret')
  @UseGuards(OwnEndpointGuard)
  @HttpCode(200)
  @ApiOperation({
    operationId: 'rotateWebhookSecret',
    summary: 'Give an endpoint a new signing secret',
    description:
      'The secret before goes on signing beside the new one for `overlapSeconds`; at most two old ones are kept.',
  })
  @ApiBody({ type: RotateSecretDto, required: false })
  @Answers(200, 'The endpoint with its new secret', rotatedEndpointSchema, ['ETag'])
  async rotate(
    @Param('endpointId') endpointId: string,
    @OptionalBody() { overlapSeconds }: RotateSecretDto,
    @Caller() { workspaceId }: Principal,
    @Requester() by: RequestContext,
    @Res({ passthrough: true }) response: Response,
  ) {
    const { record, revision, signingSecret, previousValidUntil } = orProblem(
      await this.commands.execute(new RotateSecret(endpointId, workspaceId, overlapSeconds, by)),
    );
    response.set('ETag', etagOf(revision));
    return { ...record, signingSecret, previousValidUntil };
  }

  @Post('test')
  @UseGuards(OwnEndpointGuard)
  @HttpCode(202)
  @ApiOperation({
    operationId: 'sendTestEvent',
    summary: 'Send a trial event to an endpoint',
    description:
      'Shaped as the real one, about a reading that does not exist; `X-Service-Test` tells it apart.',
  })
  @ApiBody({ type: SendTestEventDto, required: false })
  @Answers(202, 'The delivery is queued', deliverySchema)
  @Refuses('unsupported_event_type')
  async test(
    @Param('endpointId') endpointId: string,
    @OptionalBody() { type }: SendTestEventDto,
    @Caller() { workspaceId }: Principal,
  ) {
    return orProblem(await this.commands.execute(new SendTestEvent(endpointId, workspaceId, type))).delivery;
  }

  @Get('health')
  @ApiOperation({
    operationId: 'getWebhookEndpointHealth',
    summary: 'See how an endpoint fares',
    description: 'Its queue, and how its attempts ended in the last 24 hours.',
  })
  @Answers(200, 'The health of the endpoint', endpointHealthSchema)
  async health(@Param('endpointId') endpointId: string, @Caller() { workspaceId }: Principal) {
    const { record } = orProblem(await this.access.find(endpointId, workspaceId));
    return { ...record.health, ...(await this.queues.of(endpointId)) };
  }

  @Get('deliveries')
  @ApiOperation({
    operationId: 'listDeliveries',
    summary: 'List what was sent to an endpoint',
    description: 'The newest first. A cursor belongs to its filters.',
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
    schema: { type: 'array', items: { type: 'string', enum: [...PUBLIC_EVENT_TYPES] } },
    explode: false,
  })
  @ApiQuery({ name: 'readingId', required: false, schema: { type: 'string', format: 'uuid' } })
  @ApiQuery({
    name: 'since',
    required: false,
    description: 'Created then or later',
    schema: { type: 'string', format: 'date-time' },
  })
  @ApiQuery({
    name: 'until',
    required: false,
    description: 'Created before',
    schema: { type: 'string', format: 'date-time' },
  })
  @ApiQuery({
    name: 'undelivered',
    required: false,
    description: 'Only those whose event has reached the endpoint by no delivery',
    schema: { type: 'boolean', default: false },
  })
  @Answers(200, 'A page of deliveries', deliveryPageSchema)
  @Refuses('unsupported_event_type')
  async list(
    @Param('endpointId') endpointId: string,
    @Query('limit') limit: string | undefined,
    @Query('cursor') cursor: string | undefined,
    @Query() query: Readonly<Record<string, QueryValue>>,
    @Caller() { workspaceId }: Principal,
  ) {
    orProblem(await this.access.find(endpointId, workspaceId));
    const filter: DeliveryFilter = {
      statuses: readChoice('status', query['status'], DELIVERY_STATUSES),
      types: readChoice('type', query['type'], PUBLIC_EVENT_TYPES, 'unsupported_event_type'),
      readingId: readUuid('readingId', query['readingId']),
      since: readInstant('since', query['since']),
      until: readInstant('until', query['until']),
      undelivered: readFlag('undelivered', query['undelivered']),
    };
    const scope = ['deliveries', workspaceId, endpointId, JSON.stringify(filter)];
    const page = this.cursors.read(limit, cursor, ...scope);
    const records = await this.rows.page(endpointId, page.limit + 1, page.after, filter);
    const endOf = ({ createdAt, deliveryId }: (typeof records)[0]) => [createdAt, deliveryId];
    return this.cursors.page(records, page.limit, endOf, ...scope);
  }

  @Get('deliveries/:deliveryId')
  @ApiOperation({
    operationId: 'getDelivery',
    summary: 'Get a delivery and every attempt at it',
    description: 'Of a receiver’s answer only the status and the class of error are told.',
  })
  @Names('deliveryId', 'delivery_not_found', NAMED_DELIVERY)
  @Answers(200, 'The delivery', deliveryHistorySchema)
  async one(
    @Param('endpointId') endpointId: string,
    @Param('deliveryId') deliveryId: string,
    @Caller() { workspaceId }: Principal,
  ) {
    orProblem(await this.access.find(endpointId, workspaceId));
    const record = await this.rows.find(endpointId, deliveryId);
    if (!record) throw problemOf({ outcome: 'delivery_not_found' });
    return { ...record, history: await this.rows.attempts(deliveryId) };
  }

  @Post('deliveries/:deliveryId/redeliver')
  @UseGuards(OwnEndpointGuard)
  @HttpCode(202)
  @ApiOperation({
    operationId: 'redeliver',
    summary: 'Send a delivery again',
    description: 'As a new delivery of the same event: same id, same bytes.',
  })
  @Names('deliveryId', 'delivery_not_found', NAMED_DELIVERY)
  @Answers(202, 'The new delivery is queued', deliverySchema)
  async redeliver(
    @Param('endpointId') endpointId: string,
    @Param('deliveryId') deliveryId: string,
    @Caller() { workspaceId }: Principal,
  ) {
    return orProblem(await this.commands.execute(new Redeliver(endpointId, workspaceId, deliveryId)))
      .delivery;
  }
}
