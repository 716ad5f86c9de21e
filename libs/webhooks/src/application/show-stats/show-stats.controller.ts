import { Get, Inject, Param, Query } from '@nestjs/common';
import { ApiOperation, ApiQuery } from '@nestjs/swagger';
import { instant, type Clock } from '#event-sourcing/core/clock.js';
import { Caller, type Principal } from '#platform/auth/authentication.js';
import { Answers } from '#platform/http/openapi/operation.js';
import { invalidParameter } from '#platform/http/query-parameters.js';
import { CLOCK } from '#platform/tokens.js';
import { HOUR_MS, firstHour } from '../../contracts/stats.js';
import { readInstant, type QueryValue } from '../../http/query-parameters.js';
import { orProblem } from '../../http/refusals.js';
import { EndpointRoutes, ReadsWebhooks } from '../../http/webhook-routes.js';
import { HourlyStats } from '../../read-models/stats/hourly-stats.js';
import { EndpointAccess } from '../endpoint-access.js';
import { endpointStatsSchema } from './show-stats.schemas.js';

const MOST_DAYS = 35;

@EndpointRoutes()
export class ShowStatsController {
  constructor(
    private readonly access: EndpointAccess,
    private readonly stats: HourlyStats,
    @Inject(CLOCK) private readonly clock: Clock,
  ) {}

  @Get('stats')
  @ReadsWebhooks()
  @ApiOperation({
    operationId: 'getWebhookEndpointStats',
    summary: 'Get the attempts of an endpoint by hour',
    description:
      'Counts attempts by outcome, and says how long the successful ones took. The figures are sums of their own, kept for 35 days unless the operator chose otherwise. A percentile is exact to about a third.',
  })
  @ApiQuery({
    name: 'since',
    required: false,
    description: 'From the hour of this instant on; default: the last 24 hours',
    schema: { type: 'string', format: 'date-time' },
  })
  @ApiQuery({
    name: 'until',
    required: false,
    description: 'Up to this instant, exclusive; default: now',
    schema: { type: 'string', format: 'date-time' },
  })
  @Answers(200, 'The attempts of the endpoint by hour', endpointStatsSchema)
  async show(
    @Param('endpointId') endpointId: string,
    @Query('since') since: QueryValue,
    @Query('until') until: QueryValue,
    @Caller() { workspaceId }: Principal,
  ) {
    const end = Date.parse(readInstant('until', until) ?? instant(this.clock.now()));
    const chosen = readInstant('since', since);
    const start = chosen === null ? firstHour(end) : firstHour(Date.parse(chosen), 1);
    if (start >= end) throw invalidParameter('since', 'must be before `until`');
    if (end - start > MOST_DAYS * 24 * HOUR_MS)
      throw invalidParameter('since', `must be at most ${MOST_DAYS} days before \`until\``);
    orProblem(await this.access.find(endpointId, workspaceId));
    const [from, to] = [instant(start), instant(end)];
    return { since: from, until: to, ...(await this.stats.of(endpointId, from, to)) };
  }
}
