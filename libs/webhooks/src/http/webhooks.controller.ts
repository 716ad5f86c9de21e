import {
  Body,
  Controller,
  Delete,
  Get,
  Headers,
  HttpCode,
  Param,
  Patch,
  Post,
  Query,
  Res,
  UseGuards,
} from '@nestjs/common';
import { CommandBus } from '@nestjs/cqrs';
import { ApiConsumes, ApiOperation, ApiTags } from '@nestjs/swagger';
import type { Response } from 'express';
import type { RequestContext } from '@app/event-sourcing/core/request-context.js';
import { Accepts, Caller, ScopeArea, type Principal } from '@app/platform/auth/authentication.js';
import { Answers, Names, Refuses } from '@app/platform/http/openapi/operation.js';
import { Requester } from '@app/platform/http/requester.js';
import { ChangeWebhookEndpoint } from '../application/change-webhook-endpoint/change-webhook-endpoint.command.js';
import { DeleteWebhookEndpoint } from '../application/delete-webhook-endpoint/delete-webhook-endpoint.command.js';
import { EndpointAccess } from '../application/endpoint-access.js';
import { CreateWebhookEndpoint } from '../contracts/commands.js';
import type { PublicEventType } from '../contracts/event-types.js';
import { EndpointRows } from '../read-models/endpoint/endpoint-rows.js';
import { ChangeWebhookEndpointDto, CreateWebhookEndpointDto } from './dto/webhook-endpoint.dto.js';
import { etagOf, readIfMatch } from './if-match.js';
import { PageCursors } from '@app/platform/http/page-cursor.js';
import { OwnEndpointGuard } from './own-endpoint.guard.js';
import { orProblem } from './refusals.js';
import {
  changedEndpointSchema,
  createdEndpointSchema,
  endpointPageSchema,
  endpointSchema,
  NAMED_ENDPOINT,
} from './webhook.schemas.js';

@Controller('api/v1/webhooks')
@Accepts('apiKey', 'bearer')
@ScopeArea('webhooks')
@ApiTags('Webhooks')
export class WebhooksController {
  constructor(
    private readonly commands: CommandBus,
    private readonly access: EndpointAccess,
    private readonly rows: EndpointRows,
    private readonly cursors: PageCursors,
  ) {}

  @Get()
  @ApiOperation({
    operationId: 'listWebhookEndpoints',
    summary: 'List the webhook endpoints',
    description: 'The newest first.',
  })
  @Answers(200, 'A page of endpoints', endpointPageSchema)
  async list(
    @Query('limit') limit: string | undefined,
    @Query('cursor') cursor: string | undefined,
    @Caller() { workspaceId }: Principal,
  ) {
    const page = this.cursors.read(limit, cursor, 'endpoints', workspaceId);
    const records = await this.rows.page(workspaceId, page.limit + 1, page.after);
    const endOf = ({ createdAt, endpointId }: (typeof records)[0]) => [createdAt, endpointId];
    return this.cursors.page(records, page.limit, endOf, 'endpoints', workspaceId);
  }

  @Post()
  @HttpCode(201)
  @ApiOperation({
    operationId: 'createWebhookEndpoint',
    summary: 'Create a webhook endpoint',
    description: 'Keep its `signingSecret`: it is shown this once. Nothing is sent to the URL yet.',
  })
  @Answers(201, 'The endpoint', createdEndpointSchema, ['Location', 'ETag'])
  @Refuses('invalid_webhook_url', 'webhook_url_blocked', 'unsupported_event_type', 'endpoint_limit_reached')
  async create(
    @Body() { url, events, description }: CreateWebhookEndpointDto,
    @Caller() { workspaceId }: Principal,
    @Requester() by: RequestContext,
    @Res({ passthrough: true }) response: Response,
  ) {
    const chosen = events ? distinct(events) : null;
    const { endpoint } = orProblem(
      await this.commands.execute(
        new CreateWebhookEndpoint(workspaceId, url, chosen, description ?? null, by),
      ),
    );
    const { warnings, ...created } = endpoint;
    response.set({ Location: `/api/v1/webhooks/${created.endpointId}`, ETag: etagOf(0n) });
    return warnings.length > 0 ? { ...created, warnings } : created;
  }

  @Get(':endpointId')
  @ApiOperation({
    operationId: 'getWebhookEndpoint',
    summary: 'Get a webhook endpoint',
    description: 'With its health; its secret is never shown again.',
  })
  @Names('endpointId', 'webhook_not_found', NAMED_ENDPOINT)
  @Answers(200, 'The endpoint', endpointSchema, ['ETag'])
  async get(
    @Param('endpointId') endpointId: string,
    @Caller() { workspaceId }: Principal,
    @Res({ passthrough: true }) response: Response,
  ) {
    const { record, revision } = orProblem(await this.access.find(endpointId, workspaceId));
    response.set('ETag', etagOf(revision));
    return record;
  }

  @Patch(':endpointId')
  @UseGuards(OwnEndpointGuard)
  @ApiConsumes('application/json', 'application/merge-patch+json')
  @ApiOperation({
    operationId: 'updateWebhookEndpoint',
    summary: 'Change a webhook endpoint',
    description:
      'A JSON Merge Patch (RFC 7396), also as `application/merge-patch+json`. Enabling an endpoint resets its failures and sends nothing by itself: `skippedDeliveries` tells how many deliveries were left out since it was disabled, up to 100,000. Another URL begins anew, without the failures of the one before.',
  })
  @Names('endpointId', 'webhook_not_found', NAMED_ENDPOINT)
  @Answers(200, 'The endpoint as it is now', changedEndpointSchema, ['ETag'])
  @Refuses('invalid_webhook_url', 'webhook_url_blocked', 'unsupported_event_type')
  async change(
    @Param('endpointId') endpointId: string,
    @Body() { url, events, enabled, description }: ChangeWebhookEndpointDto,
    @Headers('if-match') ifMatch: string | undefined,
    @Caller() { workspaceId }: Principal,
    @Requester() by: RequestContext,
    @Res({ passthrough: true }) response: Response,
  ) {
    const changes = {
      ...(url === undefined ? {} : { url }),
      ...(events === undefined ? {} : { events: distinct(events) }),
      ...(enabled === undefined ? {} : { enabled }),
      ...(description === undefined ? {} : { description }),
    };
    const { record, revision, skippedDeliveries } = orProblem(
      await this.commands.execute(
        new ChangeWebhookEndpoint(endpointId, workspaceId, changes, readIfMatch(ifMatch), by),
      ),
    );
    response.set('ETag', etagOf(revision));
    return skippedDeliveries === null ? record : { ...record, skippedDeliveries };
  }

  @Delete(':endpointId')
  @HttpCode(204)
  @ApiOperation({
    operationId: 'deleteWebhookEndpoint',
    summary: 'Delete a webhook endpoint',
    description: 'For good: nothing more is sent to it.',
  })
  @Names('endpointId', 'webhook_not_found', NAMED_ENDPOINT)
  @Answers(204, 'The endpoint is deleted')
  async delete(
    @Param('endpointId') endpointId: string,
    @Headers('if-match') ifMatch: string | undefined,
    @Caller() { workspaceId }: Principal,
    @Requester() by: RequestContext,
  ): Promise<void> {
    orProblem(
      await this.commands.execute(
        new DeleteWebhookEndpoint(endpointId, workspaceId, readIfMatch(ifMatch), by),
      ),
    );
  }
}

const distinct = (events: readonly PublicEventType[]): readonly PublicEventType[] => [...new Set(events)];
