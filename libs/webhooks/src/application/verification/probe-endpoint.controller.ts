import { HttpCode, Param, Post } from '@nestjs/common';
import { CommandBus } from '@nestjs/cqrs';
import { ApiOperation } from '@nestjs/swagger';
import { Caller, type Principal } from '#platform/auth/authentication.js';
import { Answers } from '#platform/http/openapi/operation.js';
import { ChangesEndpoint } from '../../http/own-endpoint.guard.js';
import { orProblem } from '../../http/refusals.js';
import { EndpointRoutes, WritesWebhooks } from '../../http/webhook-routes.js';
import { endpointSchema } from '../../http/webhook.schemas.js';
import { ProbeEndpoint } from './probe-endpoint.command.js';

@EndpointRoutes()
export class ProbeEndpointController {
  constructor(private readonly commands: CommandBus) {}

  @Post('verify')
  @WritesWebhooks()
  @ChangesEndpoint()
  @HttpCode(202)
  @ApiOperation({
    operationId: 'verifyWebhookEndpoint',
    summary: 'Probe an endpoint again',
    description:
      'For an endpoint whose `health.state` is `unverified`: the next probe is sent at once, or a minute after the last one. Nothing is sent to an endpoint that is verified.',
  })
  @Answers(202, 'The endpoint as it is now', endpointSchema)
  async verify(@Param('endpointId') endpointId: string, @Caller() { workspaceId }: Principal) {
    return orProblem(await this.commands.execute(new ProbeEndpoint(endpointId, workspaceId))).record;
  }
}
