import {
  Get,
  Param,
  Query,
  Res,
  UseGuards,
  Body,
  HttpCode,
  Post,
  Headers,
  Patch,
  Delete,
  Inject,
} from '@nestjs/common';
import { ApiOperation, ApiQuery, ApiConsumes, ApiBody } from '@nestjs/swagger';
import type { Response } from 'express';
import { CommandBus, CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import type pg from 'pg';
import { Caller, type Principal } from '#platform/auth/authentication.js';
import { Answers, Names, Refuses } from '#platform/http/openapi/operation.js';
import { PageCursors } from '#platform/http/page-cursor.js';
import type { RequestContext } from '#event-sourcing/core/request-context.js';
import { Requester } from '#platform/http/requester.js';
import { ShownOnce } from '#platform/idempotency/idempotency.interceptor.js';
import { Command } from '#platform/cqrs/message.js';
import { instant, type Clock } from '#event-sourcing/core/clock.js';
import { CLOCK } from '#platform/tokens.js';
import { OptionalBody } from '#platform/http/optional-body.pipe.js';
import { invalidParameter } from '#platform/http/query-parameters.js';
import { POSTGRES } from '#platform/postgres/pool.js';
import {
  etagOf,
  OwnEndpointGuard,
  orProblem,
  ReadsWebhooks,
  WebhookRoutes,
  WritesWebhooks,
  readIfMatch,
  ChangesEndpoint,
  EndpointRoutes,
} from '../http/routes.js';
import { LIVEMODE_SHOWN, readModes, type QueryValue, readInstant } from '../http/query-parameters.js';
import {
  NAMED_ENDPOINT,
  endpointPageSchema,
  endpointSchema,
  createdEndpointSchema,
  changedEndpointSchema,
  rotatedEndpointSchema,
  endpointHealthSchema,
  endpointStatsSchema,
} from '../http/webhook.schemas.js';
import { EndpointRows, QueueHealth } from '../read-models/endpoints.js';
import { EndpointAccess } from './endpoint-access.js';
import {
  CreateWebhookEndpoint,
  type WebhookEndpointRecord,
  HOUR_MS,
  firstHour,
} from '../contracts/endpoints.js';
import {
  allowedModes,
  distinct,
  mayChooseUrl,
  CreateWebhookEndpointDto,
  ChangeWebhookEndpointDto,
  RotateSecretDto,
} from '../http/bodies.js';
import { ChangeWebhookEndpoint } from './change-webhook-endpoint.js';
import type { RefusedByEndpoint, EndpointRefusal } from '../contracts/refusals.js';
import { decided, EndpointStreams } from './endpoint-streams.js';
import { SecretVault } from './vaults.js';
import { HourlyStats } from '../read-models/hourly-stats.js';

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

@WebhookRoutes()
export class CreateWebhookEndpointController {
  constructor(private readonly commands: CommandBus) {}

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
    const { endpoint } = orProblem(
      await this.commands.execute(new CreateWebhookEndpoint(caller.workspaceId, choice, by)),
    );
    response.set({ Location: `/api/v1/webhooks/${endpoint.endpointId}`, ETag: etagOf(0n) });
    return endpoint;
  }
}

@EndpointRoutes()
export class ChangeWebhookEndpointController {
  constructor(private readonly commands: CommandBus) {}

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
    const changes = {
      ...(url === undefined ? {} : { url }),
      ...(events === undefined ? {} : { events: distinct(events) }),
      ...(modes === undefined ? {} : { modes: allowedModes(modes, caller) }),
      ...(notices === undefined ? {} : { notices: distinct(notices) }),
      ...(enabled === undefined ? {} : { enabled }),
      ...(description === undefined ? {} : { description }),
      ...(headers === undefined ? {} : { headers }),
      ...(maxPerSecond === undefined ? {} : { maxPerSecond }),
    };
    const { record, revision, skippedDeliveries } = orProblem(
      await this.commands.execute(
        new ChangeWebhookEndpoint(endpointId, caller.workspaceId, changes, readIfMatch(ifMatch), by),
      ),
    );
    response.set('ETag', etagOf(revision));
    return skippedDeliveries === null ? record : { ...record, skippedDeliveries };
  }
}

export type DeleteEndpointResult = { readonly outcome: 'deleted' } | RefusedByEndpoint;

/** Deletes an endpoint for good. */
export class DeleteWebhookEndpoint extends Command<DeleteEndpointResult> {
  constructor(
    readonly endpointId: string,
    readonly workspaceId: string,
    readonly ifRevision: readonly bigint[] | null,
    readonly by: RequestContext,
  ) {
    super();
  }
}

@CommandHandler(DeleteWebhookEndpoint)
export class DeleteWebhookEndpointHandler implements ICommandHandler<DeleteWebhookEndpoint> {
  constructor(
    private readonly access: EndpointAccess,
    private readonly streams: EndpointStreams,
    private readonly rows: EndpointRows,
  ) {}

  async execute({
    endpointId,
    workspaceId,
    ifRevision,
    by,
  }: DeleteWebhookEndpoint): Promise<DeleteEndpointResult> {
    const known = await this.access.find(endpointId, workspaceId);
    if (known.outcome !== 'found') return known;
    const decision = decided(
      await this.streams.execute(endpointId, { type: 'DeleteEndpoint', ifRevision }, { by, workspaceId }),
    );
    if (decision.outcome !== 'decided') return decision;
    await this.rows.waitFor(endpointId, decision.state.revision);
    return { outcome: 'deleted' };
  }
}

@EndpointRoutes()
export class DeleteWebhookEndpointController {
  constructor(private readonly commands: CommandBus) {}

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
    @Caller() { workspaceId }: Principal,
    @Requester() by: RequestContext,
  ): Promise<void> {
    orProblem(
      await this.commands.execute(
        new DeleteWebhookEndpoint(endpointId, workspaceId, readIfMatch(ifMatch), by),
      ),
    );
  }
}

export interface RotatedSecret {
  readonly outcome: 'rotated';
  readonly record: WebhookEndpointRecord;
  readonly revision: bigint;
  /** Shown only this once. */
  readonly signingSecret: string;
  /** RFC 3339: the previous secret signs too until then. */
  readonly previousValidUntil: string;
}

export type RotateSecretResult = RotatedSecret | RefusedByEndpoint;

/** Gives an endpoint a new secret. */
export class RotateSecret extends Command<RotateSecretResult> {
  constructor(
    readonly endpointId: string,
    readonly workspaceId: string,
    readonly overlapSeconds: number,
    readonly by: RequestContext,
  ) {
    super();
  }
}

@CommandHandler(RotateSecret)
export class RotateSecretHandler implements ICommandHandler<RotateSecret> {
  constructor(
    private readonly access: EndpointAccess,
    private readonly vault: SecretVault,
    private readonly streams: EndpointStreams,
    private readonly rows: EndpointRows,
    @Inject(CLOCK) private readonly clock: Clock,
  ) {}

  async execute({ endpointId, workspaceId, overlapSeconds, by }: RotateSecret): Promise<RotateSecretResult> {
    const known = await this.access.find(endpointId, workspaceId);
    if (known.outcome !== 'found') return known;
    const { record } = known;
    const at = this.clock.now();
    const secret = this.vault.generate(endpointId, by);
    await this.vault.store(secret, { endpointId, workspaceId, at: instant(at) });
    const decision = decided(
      await this.streams.execute(
        endpointId,
        { type: 'RotateSecret', secretRef: secret.ref, at, overlapSeconds },
        { by, workspaceId },
      ),
    );
    if (decision.outcome !== 'decided') return decision;
    const { state, events } = decision;
    const isRepeated = events.length === 0;
    await this.rows.waitFor(endpointId, state.revision);
    return {
      outcome: 'rotated',
      record: {
        ...record,
        updatedAt: events.at(-1)?.metadata.occurredAt ?? record.updatedAt,
        secretHint: secret.hint,
      },
      revision: state.revision,
      signingSecret: secret.secret,
      previousValidUntil:
        (isRepeated && (await this.streams.overlapOf(endpointId, secret.ref))) ||
        instant(at + overlapSeconds * 1_000),
    };
  }
}

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

/** Has an endpoint that is not verified probed again, at once or when its receiver has had a minute's rest. */
export class ProbeEndpoint extends Command<
  { readonly outcome: 'asked'; readonly record: WebhookEndpointRecord } | EndpointRefusal
> {
  constructor(
    readonly endpointId: string,
    readonly workspaceId: string,
  ) {
    super();
  }
}

@CommandHandler(ProbeEndpoint)
export class ProbeEndpointHandler implements ICommandHandler<ProbeEndpoint> {
  constructor(
    private readonly access: EndpointAccess,
    @Inject(POSTGRES) private readonly pool: pg.Pool,
    @Inject(CLOCK) private readonly clock: Clock,
  ) {}

  /** An endpoint that is verified has no row, so nothing is sent to it. */
  async execute({ endpointId, workspaceId }: ProbeEndpoint) {
    const known = await this.access.find(endpointId, workspaceId);
    if (known.outcome !== 'found') return known;
    await this.pool.query(
      'update webhooks.verification set due_at = least(due_at, $2) where endpoint_id = $1',
      [endpointId, instant(this.clock.now())],
    );
    return { outcome: 'asked', record: known.record } as const;
  }
}

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
