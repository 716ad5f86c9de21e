import { HttpCode, Param, Post, UseGuards } from '@nestjs/common';
import { CommandBus } from '@nestjs/cqrs';
import { ApiBody, ApiOperation } from '@nestjs/swagger';
import { Caller, type Principal } from '@app/platform/auth/authentication.js';
import { Answers, Refuses } from '@app/platform/http/openapi/operation.js';
import { OptionalBody } from '@app/platform/http/optional-body.js';
import { OwnEndpointGuard } from '../../http/own-endpoint.guard.js';
import { orProblem } from '../../http/refusals.js';
import { EndpointRoutes } from '../../http/webhook-routes.js';
import { deliverySchema } from '../../http/webhook.schemas.js';
import { SendTestEventDto } from './send-test-event.body.js';
import { SendTestEvent } from './send-test-event.command.js';

@EndpointRoutes()
export class SendTestEventController {
  constructor(private readonly commands: CommandBus) {}

  @Post('test')
  @UseGuards(OwnEndpointGuard)
  @HttpCode(202)
  @ApiOperation({
    operationId: 'sendTestEvent',
    summary: 'Send a test event to an endpoint',
    description:
      'The event has the real shape and names a reading that does not exist. It carries the header `X-Service-Test`.',
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
}
