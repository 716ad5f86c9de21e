import { Get, Param, Query, Res } from '@nestjs/common';
import { ApiOperation } from '@nestjs/swagger';
import type { Response } from 'express';
import { Caller, type Principal } from '@app/platform/auth/authentication.js';
import { Answers, Names } from '@app/platform/http/openapi/operation.js';
import { PageCursors } from '@app/platform/http/page-cursor.js';
import { etagOf } from '../../http/if-match.js';
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
  @Answers(200, 'A page of endpoints', endpointPageSchema)
  async list(
    @Query('limit') limit: string | undefined,
    @Query('cursor') cursor: string | undefined,
    @Caller() { workspaceId }: Principal,
  ) {
    const page = this.cursors.read(limit, cursor, 'endpoints', workspaceId);
    const records = await this.rows.page(workspaceId, page.limit + 1, page.after);
    const endOf = ({ createdAt, endpointId }: (typeof records)[0]) => [createdAt, endpointId];
    return this.cursors.page(records, page.limit, endOf, 'endpoints', workspaceId);
  }

  @Get(':endpointId')
  @ReadsWebhooks()
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
