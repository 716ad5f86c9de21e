import { Get, Param } from '@nestjs/common';
import { ApiOperation } from '@nestjs/swagger';
import { Caller, type Principal } from '#platform/auth/authentication.js';
import { Answers } from '#platform/http/openapi/operation.js';
import { orProblem } from '../../http/refusals.js';
import { EndpointRoutes, ReadsWebhooks } from '../../http/webhook-routes.js';
import { endpointHealthSchema } from '../../http/webhook.schemas.js';
import { QueueHealth } from '../../read-models/health/queue-health.js';
import { EndpointAccess } from '../endpoint-access.js';

@EndpointRoutes()
export class ShowEndpointHealthController {
  constructor(
    private readonly access: EndpointAccess,
    private readonly queues: QueueHealth,
  ) {}

  @Get('health')
  @ReadsWebhooks()
  @ApiOperation({
    operationId: 'getWebhookEndpointHealth',
    summary: 'Get the health of an endpoint',
    description:
      'Returns the state of its queue, and the attempts of the last 24 hours by outcome. Hours count as a whole: this one (UTC) and the 23 before it.',
  })
  @Answers(200, 'The health of the endpoint', endpointHealthSchema)
  async health(@Param('endpointId') endpointId: string, @Caller() { workspaceId }: Principal) {
    const { record } = orProblem(await this.access.find(endpointId, workspaceId));
    return { ...record.health, ...(await this.queues.of(endpointId)) };
  }
}
