import { HttpCode, Param, Post, Res } from '@nestjs/common';
import { CommandBus } from '@nestjs/cqrs';
import { ApiBody, ApiOperation } from '@nestjs/swagger';
import type { Response } from 'express';
import type { RequestContext } from '#event-sourcing/core/request-context.js';
import { Caller, type Principal } from '#platform/auth/authentication.js';
import { Answers } from '#platform/http/openapi/operation.js';
import { Requester } from '#platform/http/requester.js';
import { ShownOnce } from '#platform/idempotency/idempotency.interceptor.js';
import { etagOf } from '../../http/if-match.js';
import { ChangesEndpoint } from '../../http/own-endpoint.guard.js';
import { OptionalBody } from '#platform/http/optional-body.pipe.js';
import { orProblem } from '../../http/refusals.js';
import { EndpointRoutes, WritesWebhooks } from '../../http/webhook-routes.js';
import { rotatedEndpointSchema } from '../../http/webhook.schemas.js';
import { RotateSecretDto } from './rotate-secret.body.js';
import { RotateSecret } from './rotate-secret.command.js';

@EndpointRoutes()
export class RotateSecretController {
  constructor(private readonly commands: CommandBus) {}

  @Post('rotate-secret')
  @WritesWebhooks()
  @ChangesEndpoint()
  @HttpCode(200)
  @ShownOnce('signingSecret')
  @ApiOperation({
    operationId: 'rotateWebhookSecret',
    summary: 'Give an endpoint a new signing secret',
    description:
      'The previous secret also signs for `overlapSeconds`. At most two previous secrets are kept.',
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
}
