import { Body, HttpCode, Post, Res } from '@nestjs/common';
import { CommandBus } from '@nestjs/cqrs';
import { ApiOperation } from '@nestjs/swagger';
import type { Response } from 'express';
import type { RequestContext } from '#event-sourcing/core/request-context.js';
import { Caller, type Principal } from '#platform/auth/authentication.js';
import { Answers, Refuses } from '#platform/http/openapi/operation.js';
import { Requester } from '#platform/http/requester.js';
import { ShownOnce } from '#platform/idempotency/idempotency.interceptor.js';
import { CreateWebhookEndpoint } from '../../contracts/commands.js';
import { allowedModes, distinct, mayChooseUrl } from '../../http/endpoint-settings.js';
import { etagOf } from '../../http/if-match.js';
import { orProblem } from '../../http/refusals.js';
import { WebhookRoutes, WritesWebhooks } from '../../http/webhook-routes.js';
import { createdEndpointSchema } from '../../http/webhook.schemas.js';
import { CreateWebhookEndpointDto } from './create-webhook-endpoint.body.js';

@WebhookRoutes()
export class CreateWebhookEndpointController {
  constructor(private readonly commands: CommandBus) {}

  @Post()
  @WritesWebhooks()
  @HttpCode(201)
  @ShownOnce('signingSecret')
  @ApiOperation({
    operationId: 'createWebhookEndpoint',
    summary: 'Create a webhook endpoint',
    description: 'Keep its `signingSecret`: it is shown this once. Nothing is sent to the URL yet.',
  })
  @Answers(201, 'The endpoint', createdEndpointSchema, ['Location', 'ETag'])
  @Refuses('invalid_webhook_url', 'webhook_url_blocked', 'unsupported_event_type', 'endpoint_limit_reached')
  async create(
    @Body() body: CreateWebhookEndpointDto,
    @Caller() caller: Principal,
    @Requester() by: RequestContext,
    @Res({ passthrough: true }) response: Response,
  ) {
    mayChooseUrl(caller);
    const { url, events, modes, notices, description, headers, maxPerSecond } = body;
    const choice = {
      url,
      events: events ? distinct(events) : null,
      modes: allowedModes(modes ?? [caller.mode], caller),
      notices: distinct(notices ?? []),
      description: description ?? null,
      headers: headers ?? {},
      maxPerSecond: maxPerSecond ?? null,
    };
    const { endpoint } = orProblem(
      await this.commands.execute(new CreateWebhookEndpoint(caller.workspaceId, choice, by)),
    );
    response.set({ Location: `/api/v1/webhooks/${endpoint.endpointId}`, ETag: etagOf(0n) });
    return endpoint;
  }
}
