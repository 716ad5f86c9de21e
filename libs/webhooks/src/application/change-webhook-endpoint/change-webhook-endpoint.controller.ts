import { Body, Headers, Param, Patch, Res } from '@nestjs/common';
import { CommandBus } from '@nestjs/cqrs';
import { ApiConsumes, ApiOperation } from '@nestjs/swagger';
import type { Response } from 'express';
import type { RequestContext } from '#event-sourcing/core/request-context.js';
import { Caller, type Principal } from '#platform/auth/authentication.js';
import { Answers, Refuses } from '#platform/http/openapi/operation.js';
import { Requester } from '#platform/http/requester.js';
import { allowedModes, distinct, mayChooseUrl } from '../../http/endpoint-settings.js';
import { etagOf, readIfMatch } from '../../http/if-match.js';
import { ChangesEndpoint } from '../../http/own-endpoint.guard.js';
import { orProblem } from '../../http/refusals.js';
import { EndpointRoutes, WritesWebhooks } from '../../http/webhook-routes.js';
import { changedEndpointSchema } from '../../http/webhook.schemas.js';
import { ChangeWebhookEndpointDto } from './change-webhook-endpoint.body.js';
import { ChangeWebhookEndpoint } from './change-webhook-endpoint.command.js';

@EndpointRoutes()
export class ChangeWebhookEndpointController {
  constructor(private readonly commands: CommandBus) {}

  @Patch()
  @WritesWebhooks()
  @ChangesEndpoint()
  @ApiConsumes('application/json', 'application/merge-patch+json')
  @ApiOperation({
    operationId: 'updateWebhookEndpoint',
    summary: 'Change a webhook endpoint',
    description:
      'A JSON Merge Patch (RFC 7396), also as `application/merge-patch+json`. Enabling an endpoint resets its failures and sends nothing. `skippedDeliveries` counts the deliveries skipped while it was disabled, up to 100,000. A new URL also resets the failures.',
  })
  @Answers(200, 'The endpoint as it is now', changedEndpointSchema, ['ETag'])
  @Refuses('invalid_webhook_url', 'webhook_url_blocked', 'unsupported_event_type')
  async change(
    @Param('endpointId') endpointId: string,
    @Body() body: ChangeWebhookEndpointDto,
    @Headers('if-match') ifMatch: string | undefined,
    @Caller() caller: Principal,
    @Requester() by: RequestContext,
    @Res({ passthrough: true }) response: Response,
  ) {
    const { url, events, modes, notices, enabled, description, headers, maxPerSecond } = body;
    if (url !== undefined) mayChooseUrl(caller);
    const changes = {
      ...(url === undefined ? {} : { url }),
      ...(events === undefined ? {} : { events: distinct(events) }),
      ...(modes === undefined ? {} : { modes: allowedModes(modes, caller) }),
      ...(notices === undefined ? {} : { notices: distinct(notices) }),
      ...(enabled === undefined ? {} : { enabled }),
      ...(description === undefined ? {} : { description }),
      ...(headers === undefined ? {} : { headers }),
      ...(maxPerSecond === undefined ? {} : { maxPerSecond }),
    };
    const { record, revision, skippedDeliveries } = orProblem(
      await this.commands.execute(
        new ChangeWebhookEndpoint(endpointId, caller.workspaceId, changes, readIfMatch(ifMatch), by),
      ),
    );
    response.set('ETag', etagOf(revision));
    return skippedDeliveries === null ? record : { ...record, skippedDeliveries };
  }
}
