import { Controller, Get, Header, HttpCode, Param, Post, Query, Res, UseInterceptors } from '@nestjs/common';
import { CommandBus } from '@nestjs/cqrs';
import { ApiOkResponse, ApiOperation, ApiQuery } from '@nestjs/swagger';
import type { Response } from 'express';
import { Accepts, Caller, ScopeArea, type Principal } from '@app/platform/auth/authentication.js';
import { RequestId } from '@app/platform/http/request-id.js';
import { EndpointAccess } from '../application/endpoint-access.js';
import { Redeliver } from '../application/redeliver/redeliver.js';
import { RotateSecret } from '../application/rotate-secret/rotate-secret.js';
import { SendTestEvent } from '../application/send-test-event/send-test-event.js';
import { WebhookRefused } from '../contracts/errors.js';
import { PUBLIC_EVENT_TYPES } from '../contracts/event-types.js';
import {
  DELIVERY_STATUSES,
  DeliveryRows,
  type DeliveryFilter,
} from '../read-models/delivery/delivery-rows.js';
import { QueueHealth } from '../read-models/health/queue-health.js';
import { RotateSecretDto, SendTestEventDto } from './dto/webhook-endpoint.dto.js';
import { etagOf } from './if-match.js';
import { OptionalBody } from './optional-body.pipe.js';
import { PageCursors } from '@app/platform/http/page-cursor.js';
import { readChoice, readFlag, readInstant, readUuid, type QueryValue } from './query-parameters.js';
import { RefusalsAsProblems } from './refusals.js';

/** What an endpoint's owner does to run it: rotate the secret, try it out, see what was sent, send again. */
@Controller('api/v1/webhooks/:endpointId')
@Accepts('apiKey', 'bearer')
@ScopeArea('webhooks')
@UseInterceptors(RefusalsAsProblems)
export class DeliveriesController {
  constructor(
    private readonly commands: CommandBus,
    private readonly access: EndpointAccess,
    private readonly rows: DeliveryRows,
    private readonly queues: QueueHealth,
    private readonly cursors: PageCursors,
  ) {}

  @Post('rotate-secret')
  @HttpCode(200)
  @Header('Cache-Control', 'no-store')
  async rotate(
    @Param('endpointId') endpointId: string,
    @OptionalBody() { overlapSeconds }: RotateSecretDto,
    @Caller() { workspaceId, actor }: Principal,
    @RequestId() correlationId: string,
    @Res({ passthrough: true }) response: Response,
  ) {
    const { record, revision, signingSecret, previousValidUntil } = await this.commands.execute(
      new RotateSecret(endpointId, workspaceId, overlapSeconds, { actor, correlationId }),
    );
    response.set('ETag', etagOf(revision));
    return { ...record, signingSecret, previousValidUntil };
  }

  @Post('test')
  @HttpCode(202)
  test(
    @Param('endpointId') endpointId: string,
    @OptionalBody() { type }: SendTestEventDto,
    @Caller() { workspaceId }: Principal,
  ) {
    return this.commands.execute(new SendTestEvent(endpointId, workspaceId, type));
  }

  @Get('health')
  @Header('Cache-Control', 'no-store')
  @ApiOperation({
    summary: 'How an endpoint fares: its queue, and how its attempts ended in the last 24 hours',
  })
  @ApiOkResponse({ description: 'The health of the endpoint' })
  async health(@Param('endpointId') endpointId: string, @Caller() { workspaceId }: Principal) {
    const { record } = await this.access.require(endpointId, workspaceId);
    return { ...record.health, ...(await this.queues.of(endpointId)) };
  }

  @Get('deliveries')
  @Header('Cache-Control', 'no-store')
  @ApiOperation({ summary: 'What was sent to an endpoint, the newest first' })
  @ApiQuery({
    name: 'limit',
    required: false,
    schema: { type: 'integer', minimum: 1, maximum: 100, default: 50 },
  })
  @ApiQuery({
    name: 'cursor',
    required: false,
    description: '`nextCursor` of the page before, with the same filters',
  })
  @ApiQuery({
    name: 'status',
    required: false,
    description: `of ${DELIVERY_STATUSES.join(', ')}, comma-separated`,
  })
  @ApiQuery({ name: 'type', required: false, description: 'event types, comma-separated' })
  @ApiQuery({ name: 'readingId', required: false })
  @ApiQuery({ name: 'since', required: false, description: 'created then or later (RFC 3339)' })
  @ApiQuery({ name: 'until', required: false, description: 'created before (RFC 3339)' })
  @ApiQuery({
    name: 'undelivered',
    required: false,
    schema: { type: 'boolean' },
    description: 'only those whose event has reached the endpoint by no delivery',
  })
  @ApiOkResponse({ description: 'A page of deliveries' })
  async list(
    @Param('endpointId') endpointId: string,
    @Query('limit') limit: string | undefined,
    @Query('cursor') cursor: string | undefined,
    @Query() query: Readonly<Record<string, QueryValue>>,
    @Caller() { workspaceId }: Principal,
  ) {
    await this.access.require(endpointId, workspaceId);
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
  @Header('Cache-Control', 'no-store')
  @ApiOperation({ summary: 'One delivery and every attempt at it' })
  @ApiOkResponse({ description: 'The delivery; `history` holds its attempts, the first first' })
  async one(
    @Param('endpointId') endpointId: string,
    @Param('deliveryId') deliveryId: string,
    @Caller() { workspaceId }: Principal,
  ) {
    await this.access.require(endpointId, workspaceId);
    const record = await this.rows.find(endpointId, deliveryId);
    if (!record) throw new WebhookRefused('delivery_not_found');
    return { ...record, history: await this.rows.attempts(deliveryId) };
  }

  @Post('deliveries/:deliveryId/redeliver')
  @HttpCode(202)
  redeliver(
    @Param('endpointId') endpointId: string,
    @Param('deliveryId') deliveryId: string,
    @Caller() { workspaceId }: Principal,
  ) {
    return this.commands.execute(new Redeliver(endpointId, workspaceId, deliveryId));
  }
}
