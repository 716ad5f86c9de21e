import { HttpCode, Param, Post } from '@nestjs/common';
import { CommandBus } from '@nestjs/cqrs';
import { ApiOperation } from '@nestjs/swagger';
import { Caller, type Principal } from '#platform/auth/authentication.js';
import { Answers, Refuses } from '#platform/http/openapi/operation.js';
import { orProblem } from '../../http/refusals.js';
import { EndpointRoutes, NamesDelivery, WritesWebhooks } from '../../http/webhook-routes.js';
import { deliverySchema } from '../../http/webhook.schemas.js';
import { Redeliver } from './redeliver.command.js';

@EndpointRoutes()
export class RedeliverController {
  constructor(private readonly commands: CommandBus) {}

  @Post('deliveries/:deliveryId/redeliver')
  @WritesWebhooks()
  @HttpCode(202)
  @ApiOperation({
    operationId: 'redeliver',
    summary: 'Send a delivery again',
    description:
      'Creates a new delivery of the same event, with the same id and bytes. A redelivery that is already waiting is sent at once instead.',
  })
  @NamesDelivery()
  @Refuses('no_longer_kept')
  @Answers(202, 'The new delivery is queued', deliverySchema)
  async redeliver(
    @Param('endpointId') endpointId: string,
    @Param('deliveryId') deliveryId: string,
    @Caller() { workspaceId, sees }: Principal,
  ) {
    return orProblem(await this.commands.execute(new Redeliver(endpointId, workspaceId, deliveryId, sees)))
      .delivery;
  }
}
