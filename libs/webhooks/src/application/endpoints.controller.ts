import { Body, Delete, Get, Headers, HttpCode, Inject, Param, Patch, Post, Query, Res } from '@nestjs/common';
import { ApiBody, ApiConsumes, ApiOperation, ApiQuery } from '@nestjs/swagger';
import type { Response } from 'express';
import { instant, type Clock } from '#event-sourcing/core/clock.js';
import type { RequestContext } from '#event-sourcing/core/request-context.js';
import { Caller, type Principal } from '#platform/auth/authentication.js';
import { Answers, Refuses } from '#platform/http/openapi/operation.js';
import { OptionalBody } from '#platform/http/optional-body.pipe.js';
import { PageCursors } from '#platform/http/page-cursor.js';
import { invalidParameter } from '#platform/http/query-parameters.js';
import { Requester } from '#platform/http/requester.js';
import { ShownOnce } from '#platform/idempotency/idempotency.interceptor.js';
import { RateLimited } from '#platform/rate-limit/rate-limit.guard.js';
import { CLOCK } from '#platform/tokens.js';
import { GetEndpointStats, HOUR_MS, firstHour } from '../contracts/endpoints.js';
import {
  ChangeWebhookEndpointDto,
  CreateWebhookEndpointDto,
  RotateSecretDto,
  allowedModes,
  distinct,
  mayChooseUrl,
} from '../http/bodies.js';
import {
  InstantQuery,
  LIVEMODE_SHOWN,
  readInstant,
  readModes,
  type QueryValue,
} from '../http/query-parameters.js';
import {
  ChangesEndpoint,
  EndpointRoutes,
  ReadsWebhooks,
  WebhookRoutes,
  WritesWebhooks,
  etagOf,
  orProblem,
  readIfMatch,
} from '../http/routes.js';
import {
  changedEndpointSchema,
  createdEndpointSchema,
  endpointHealthSchema,
  endpointPageSchema,
  endpointSchema,
  endpointStatsSchema,
  rotatedEndpointSchema,
} from '../http/webhook.schemas.js';
import { EndpointRows, QueueHealth } from '../read-models/endpoints.js';
import { GetEndpointStatsHandler } from '../read-models/hourly-stats.js';
import { EndpointAccess } from './endpoint-access.js';
import { EndpointCommands, type AskedChanges } from './endpoint-commands.js';

const MOST_DAYS = 35;
/** Tokens of the policy `read` that the health of an endpoint takes: it counts all that waits. */
const COUNT_COST = 5;

@WebhookRoutes()
export class EndpointsController {
  constructor(
    private readonly rows: EndpointRows,
    private readonly cursors: PageCursors,
    private readonly endpoints: EndpointCommands,
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

  @Post()
  @WritesWebhooks()
  @HttpCode(201)
  @ShownOnce('signingSecret')
  @ApiOperation({
    operationId: 'createWebhookEndpoint',
    summary: 'Create a webhook endpoint',
    description: 'Keep its `signingSecret`: it is shown this once. Nothing is sent to the URL yet.',
  })
  @Answers(201, 'The endpoint', createdEndpointSchema, ['Location', 'ETag'])
  @Refuses('invalid_webhook_url', 'webhook_url_blocked', 'unsupported_event_type', 'endpoint_limit_reached')
  async create(
    @Body() body: CreateWebhookEndpointDto,
    @Caller() caller: Principal,
    @Requester() by: RequestContext,
    @Res({ passthrough: true }) response: Response,
  ) {
    mayChooseUrl(caller);
    const { url, events, modes, notices, description, headers, maxPerSecond } = body;
    const choice = {
      url,
      events: events ? distinct(events) : null,
      modes: allowedModes(modes ?? [caller.mode], caller),
      notices: distinct(notices ?? []),
      description: description ?? null,
      headers: headers ?? {},
      maxPerSecond: maxPerSecond ?? null,
    };
    const { endpoint } = orProblem(await this.endpoints.create(caller.workspaceId, choice, by));
    response.set({ Location: `/api/v1/webhooks/${endpoint.endpointId}`, ETag: etagOf(0n) });
    return endpoint;
  }
}

@EndpointRoutes()
export class EndpointController {
  constructor(
    private readonly access: EndpointAccess,
    private readonly endpoints: EndpointCommands,
  ) {}

  @Get()
  @ReadsWebhooks()
  @ApiOperation({
    operationId: 'getWebhookEndpoint',
    summary: 'Get a webhook endpoint',
    description: 'Returns its settings and health, without its secret.',
  })
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

  @Patch()
  @WritesWebhooks()
  @ChangesEndpoint()
  @ApiConsumes('application/json', 'application/merge-patch+json')
  @ApiOperation({
    operationId: 'updateWebhookEndpoint',
    summary: 'Change a webhook endpoint',
    description:
      'A JSON Merge Patch (RFC 7396), also as `application/merge-patch+json`. Enabling an endpoint resets its failures and sends nothing. `skippedDeliveries` counts the deliveries skipped while it was disabled, up to 100,000. A new URL also resets the failures.',
  })
  @Answers(200, 'The endpoint as it is now', changedEndpointSchema, ['ETag'])
  @Refuses('invalid_webhook_url', 'webhook_url_blocked', 'unsupported_event_type')
  async change(
    @Param('endpointId') endpointId: string,
    @Body() body: ChangeWebhookEndpointDto,
    @Headers('if-match') ifMatch: string | undefined,
    @Caller() caller: Principal,
    @Requester() by: RequestContext,
    @Res({ passthrough: true }) response: Response,
  ) {
    const { url, events, modes, notices, enabled, description, headers, maxPerSecond } = body;
    if (url !== undefined) mayChooseUrl(caller);
    const asked = {
      url,
      events: events && distinct(events),
      modes: modes && allowedModes(modes, caller),
      notices: notices && distinct(notices),
      enabled,
      description,
      headers,
      maxPerSecond,
    };
    const sent = Object.fromEntries(Object.entries(asked).filter(([, value]) => value !== undefined));
    const { record, revision, skippedDeliveries } = orProblem(
      await this.endpoints.change(endpointId, caller, sent as AskedChanges, readIfMatch(ifMatch), by),
    );
    response.set('ETag', etagOf(revision));
    return skippedDeliveries === null ? record : { ...record, skippedDeliveries };
  }

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
    @Caller() caller: Principal,
    @Requester() by: RequestContext,
  ): Promise<void> {
    orProblem(await this.endpoints.delete(endpointId, caller, readIfMatch(ifMatch), by));
  }

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
    @Caller() caller: Principal,
    @Requester() by: RequestContext,
    @Res({ passthrough: true }) response: Response,
  ) {
    const { record, revision, signingSecret, previousValidUntil } = orProblem(
      await this.endpoints.rotate(endpointId, caller, overlapSeconds, by),
    );
    response.set('ETag', etagOf(revision));
    return { ...record, signingSecret, previousValidUntil };
  }
}

@EndpointRoutes()
export class EndpointHealthController {
  constructor(
    private readonly access: EndpointAccess,
    private readonly endpoints: EndpointCommands,
    private readonly queues: QueueHealth,
    private readonly stats: GetEndpointStatsHandler,
    @Inject(CLOCK) private readonly clock: Clock,
  ) {}

  @Get('health')
  @ReadsWebhooks()
  @RateLimited('read', COUNT_COST)
  @ApiOperation({
    operationId: 'getWebhookEndpointHealth',
    summary: 'Get the health of an endpoint',
    description:
      'Returns the state of its queue, and the attempts of the last 24 hours by outcome. Hours count as a whole: this one (UTC) and the 23 before it. Counts as 5 requests of the policy `read`.',
  })
  @Answers(200, 'The health of the endpoint', endpointHealthSchema)
  async health(@Param('endpointId') endpointId: string, @Caller() { workspaceId }: Principal) {
    const { record } = orProblem(await this.access.find(endpointId, workspaceId));
    return { ...record.health, ...(await this.queues.of(endpointId)) };
  }

  @Get('stats')
  @ReadsWebhooks()
  @RateLimited('read', COUNT_COST)
  @ApiOperation({
    operationId: 'getWebhookEndpointStats',
    summary: 'Get the attempts of an endpoint by hour',
    description:
      'Counts attempts by outcome, and says how long the successful ones took. The figures are sums of their own, kept for 35 days unless the operator chose otherwise. A percentile is exact to about a third. Counts as 5 requests of the policy `read`.',
  })
  @InstantQuery('since', 'From the hour of this instant on; default: the last 24 hours')
  @InstantQuery('until', 'Up to this instant, exclusive; default: now')
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
    return {
      since: from,
      until: to,
      ...(await this.stats.execute(new GetEndpointStats(endpointId, from, to))),
    };
  }

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
  async verify(@Param('endpointId') endpointId: string, @Caller() caller: Principal) {
    return orProblem(await this.endpoints.probe(endpointId, caller)).record;
  }
}
