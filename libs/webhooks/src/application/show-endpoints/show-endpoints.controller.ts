import { Get, Param, Query, Res, UseGuards } from '@nestjs/common';
import { ApiOperation, ApiQuery } from '@nestjs/swagger';
import type { Response } from 'express';
import { Caller, type Principal } from '#platform/auth/authentication.js';
import { Answers, Names } from '#platform/http/openapi/operation.js';
import { PageCursors } from '#platform/http/page-cursor.js';
import { etagOf } from '../../http/if-match.js';
import { OwnEndpointGuard } from '../../http/own-endpoint.guard.js';
import { LIVEMODE_SHOWN, readModes, type QueryValue } from '../../http/query-parameters.js';
import { orProblem } from '../../http/refusals.js';
import { ReadsWebhooks, WebhookRoutes } from '../../http/webhook-routes.js';
import { NAMED_ENDPOINT, endpointPageSchema, endpointSchema } from '../../http/webhook.schemas.js';
import { EndpointRows } from '../../read-models/endpoint/endpoint-rows.js';
import { EndpointAccess } from '../endpoint-access.js';

@WebhookRoutes()
export class ShowEndpointsController {
  constructor(
    private readonly access: EndpointAccess,
    private readonly rows: EndpointRows,
    private readonly cursors: PageCursors,
  ) {}

  @Get()
  @ReadsWebhooks()
  @ApiOperation({
    operationId: 'listWebhookEndpoints',
    summary: 'List the webhook endpoints',
    description: 'Returns the newest first.',
  })
  @ApiQuery(LIVEMODE_SHOWN)
  @Answers(200, 'A page of endpoints', endpointPageSchema)
  async list(
    @Query('limit') limit: string | undefined,
    @Query('cursor') cursor: string | undefined,
    @Query('livemode') livemode: QueryValue,
    @Caller() caller: Principal,
  ) {
    const sees = readModes(livemode, caller);
    const scope = ['endpoints', caller.workspaceId, ...sees];
    const page = this.cursors.read(limit, cursor, ...scope);
    const records = await this.rows.page(caller.workspaceId, sees, page.limit + 1, page.after);
    const endOf = ({ createdAt, endpointId }: (typeof records)[0]) => [createdAt, endpointId];
    return this.cursors.page(records, page.limit, endOf, ...scope);
  }

  @Get(':endpointId')
  @ReadsWebhooks()
  @UseGuards(OwnEndpointGuard)
  @ApiOperation({
    operationId: 'getWebhookEndpoint',
    summary: 'Get a webhook endpoint',
    description: 'Returns its settings and health, without its secret.',
  })
  @Names('endpointId', 'webhook_not_found', NAMED_ENDPOINT)
  @Answers(200, 'The endpoint', endpointSchema, ['ETag'])
  async get(
    @Param('endpointId') endpointId: string,
    @Caller() { workspaceId }: Principal,
    @Res({ passthrough: true }) response: Response,
  ) {
    const { record, revision } = orProblem(await this.access.find(endpointId, workspaceId));
    response.set('ETag', etagOf(revision));
    return record;
  }
}
