import { Delete, Headers, HttpCode, Param } from '@nestjs/common';
import { CommandBus } from '@nestjs/cqrs';
import { ApiOperation } from '@nestjs/swagger';
import type { RequestContext } from '#event-sourcing/core/request-context.js';
import { Caller, type Principal } from '#platform/auth/authentication.js';
import { Answers } from '#platform/http/openapi/operation.js';
import { Requester } from '#platform/http/requester.js';
import { readIfMatch } from '../../http/if-match.js';
import { ChangesEndpoint } from '../../http/own-endpoint.guard.js';
import { orProblem } from '../../http/refusals.js';
import { EndpointRoutes, WritesWebhooks } from '../../http/webhook-routes.js';
import { DeleteWebhookEndpoint } from './delete-webhook-endpoint.command.js';

@EndpointRoutes()
export class DeleteWebhookEndpointController {
  constructor(private readonly commands: CommandBus) {}

  @Delete()
  @WritesWebhooks()
  @ChangesEndpoint()
  @HttpCode(204)
  @ApiOperation({
    operationId: 'deleteWebhookEndpoint',
    summary: 'Delete a webhook endpoint',
    description: 'Cannot be undone. Nothing more is sent to the endpoint.',
  })
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
