import { HttpCode, Param, Post } from '@nestjs/common';
import { CommandBus } from '@nestjs/cqrs';
import { ApiBody, ApiOperation } from '@nestjs/swagger';
import type { RequestContext } from '#event-sourcing/core/request-context.js';
import { Caller, type Principal } from '#platform/auth/authentication.js';
import { Answers, Refuses } from '#platform/http/openapi/operation.js';
import { Requester } from '#platform/http/requester.js';
import { RateLimited } from '#platform/rate-limit/rate-limit.guard.js';
import { OptionalBody } from '#platform/http/optional-body.pipe.js';
import { orProblem } from '../../http/refusals.js';
import { EndpointRoutes, WritesWebhooks } from '../../http/webhook-routes.js';
import { deliverySchema } from '../../http/webhook.schemas.js';
import { SendTestEventDto } from './send-test-event.body.js';
import { SendTestEvent } from './send-test-event.command.js';

/** Tokens of the policy `manage` that a trial takes: unlike deliveries, none waits longer because others failed. */
const COST = 10;

@EndpointRoutes()
export class SendTestEventController {
  constructor(private readonly commands: CommandBus) {}

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
    @Caller() { workspaceId, sees }: Principal,
    @Requester() by: RequestContext,
  ) {
    return orProblem(await this.commands.execute(new SendTestEvent(endpointId, workspaceId, sees, type, by)))
      .delivery;
  }
}
