import { ApiProperty, ApiSchema, ApiBody, ApiConsumes, ApiOperation, ApiQuery } from '@nestjs/swagger';
import { IsArray, IsBoolean, IsDefined, IsNumber, IsObject, IsString } from 'class-validator';
import { MODES, type Mode, type RequestContext } from '#event-sourcing/core/request-context.js';
import {
  type Principal,
  type StandingPrincipal,
  Caller,
  StandingCaller,
} from '#platform/auth/authentication.js';
import { PERSONS_SCOPE } from '#platform/auth/scopes.js';
import type { SelfChecking } from '#platform/http/body.pipe.js';
import {
  booleanType,
  DAY_SECONDS,
  MAX_OVERLAP_SECONDS,
  NullableField,
  OptionalField,
  required,
  SecondsField,
  stringType,
} from '#platform/http/body-rules.js';
import { invalidRequest, Problem, type FieldError } from '#platform/http/problem.js';
import { toPointer } from '#platform/http/strict-json.js';
import { isLonger } from '#platform/text/is-longer.js';
import {
  NOTICE_TYPES,
  PUBLIC_EVENT_TYPES,
  type NoticeType,
  type PublicEventType,
  type WebhookEndpointRecord,
  endpointHealth,
  endpointRecord,
  endpointStats,
  queueHealth,
  GetEndpointStats,
  HOUR_MS,
  firstHour,
} from '../contracts/index.js';
import { MAX_VALUE_LENGTH, MAX_HEADERS, headerFaults } from '../domain/custom-headers.js';
import { checkWebhookUrl, ranges } from '../domain/webhook-url.js';
import { z } from 'zod';
import { apiPage, apiSchema, count, instant } from '#platform/http/openapi/api-schema.js';
import {
  ENDPOINT_ID,
  AT,
  invalidType,
  listOf,
  fault,
  listErrors,
  InstantQuery,
  LIVEMODE_SHOWN,
  readInstant,
  readModes,
  type QueryValue,
  ChangesEndpoint,
  EndpointRoutes,
  ReadsWebhooks,
  WebhookRoutes,
  WritesWebhooks,
  etagOf,
  orProblem,
  readIfMatch,
} from './routes.js';
import { Body, Delete, Get, Headers, HttpCode, Inject, Param, Patch, Post, Query, Res } from '@nestjs/common';
import type { Response } from 'express';
import { instant as rfc3339, type Clock } from '#event-sourcing/core/clock.js';
import { Answers, Refuses } from '#platform/http/openapi/operation.js';
import { OptionalBody } from '#platform/http/optional-body.pipe.js';
import { PageCursors } from '#platform/http/page-cursor.js';
import { invalidParameter } from '#platform/http/query-parameters.js';
import { Requester } from '#platform/http/requester.js';
import { ShownOnce } from '#platform/idempotency/idempotency.interceptor.js';
import { RateLimited } from '#platform/rate-limit/rate-limit.guard.js';
import { deliverySchema, RequestedDeliveries, SendTestEventDto } from './deliveries.js';
import { CLOCK } from '#platform/tokens.js';
import type pg from 'pg';
import { POSTGRES } from '#platform/postgres/pool.js';
import { pageOfEndpoints, QueueHealth } from '../read-models/endpoints.js';
import { GetEndpointStatsHandler } from '../read-models/hourly-stats.js';
import { Endpoints, type AskedChanges } from '../application/endpoints.js';

const endpointExample: WebhookEndpointRecord = {
  endpointId: ENDPOINT_ID,
  url: 'https://receiver.example.com/hook',
  events: ['reading.completed', 'reading.published'],
  modes: ['live'],
  notices: [],
  enabled: true,
  description: 'orders',
  headerNames: ['authorization'],
  maxPerSecond: null,
  createdAt: AT,
  updatedAt: AT,
  health: { state: 'ok', failingSince: null, disabledReason: null, consecutiveFailures: 0 },
  secretHint: 'q9Zw',
};

const SECRET = 'whsec_bKk0T2r5mY8vQ1xW4zC7nA3dF6gH9jL0pS5uE2iR8oq9Zw';
const signingSecret = () => z.string().describe('Signs deliveries; only this response contains it');

const endpointSchema = apiSchema(
  'WebhookEndpoint',
  endpointRecord,
  'A webhook endpoint. Its secret is never shown again.',
  endpointExample,
);

const endpointPageSchema = apiPage(
  'WebhookEndpointPage',
  endpointSchema,
  'Webhook endpoints, newest first.',
  endpointExample,
);

const createdEndpointSchema = apiSchema(
  'CreatedWebhookEndpoint',
  endpointRecord.extend({
    signingSecret: signingSecret()
      .optional()
      .describe('Only this response contains it; a response repeated for an `Idempotency-Key` omits it'),
  }),
  'A new endpoint.',
  { ...endpointExample, signingSecret: SECRET },
);

const changedEndpointSchema = apiSchema(
  'ChangedWebhookEndpoint',
  endpointRecord.extend({
    skippedDeliveries: count()
      .optional()
      .describe('If the change enabled it: deliveries skipped while it was disabled'),
  }),
  'An endpoint after a change.',
  { ...endpointExample, skippedDeliveries: 3 },
);

const rotatedEndpointSchema = apiSchema(
  'RotatedWebhookEndpoint',
  endpointRecord.extend({
    signingSecret: signingSecret().optional(),
    previousValidUntil: instant().describe('Until then, both secrets sign deliveries'),
  }),
  'An endpoint with a new secret.',
  { ...endpointExample, signingSecret: SECRET, previousValidUntil: '2026-04-05T09:30:00.000Z' },
);

const endpointHealthSchema = apiSchema(
  'WebhookEndpointHealth',
  endpointHealth.extend(queueHealth.shape),
  'The health of an endpoint and of its queue.',
  {
    ...endpointExample.health,
    pending: 1,
    queueAgeSeconds: 0,
    nextAttemptAt: '2026-04-04T09:35:00.000Z',
    lastSuccessAt: AT,
    attempts: { succeeded: 41, timeout: 1 },
  },
);

const example = { attempts: { succeeded: 41, timeout: 1 }, latencyMs: { p50: 84, p95: 190, p99: 310 } };

const endpointStatsSchema = apiSchema(
  'WebhookEndpointStats',
  z.object({
    since: instant().describe('The beginning of the first hour'),
    until: instant().describe('The end of the time, exclusive'),
    ...endpointStats.shape,
  }),
  'The attempts of an endpoint by hour.',
  {
    since: '2026-04-04T09:00:00.000Z',
    until: '2026-04-04T10:00:00.000Z',
    hours: [{ hour: '2026-04-04T09:00:00.000Z', ...example }],
    total: example,
  },
);

const MAX_DESCRIPTION_LENGTH = 500;
const MAX_PER_SECOND = 1_000;
const urlType = { message: 'must be a URL', context: { code: 'invalid_webhook_url' } };

/** The settings that a creation and a change have in common, each with its own words. */
const URL_SHOWN = {
  format: 'uri',
  maxLength: 2_048,
  description: 'Absolute https URL of a public address, without login or fragment',
  examples: ['https://receiver.example.com/hook'],
};
const events = (description: string) => {
  const examples = [['reading.completed', 'reading.published']];
  const shown = { type: 'array' as const, minItems: 1, items: listOf(PUBLIC_EVENT_TYPES), examples };
  return OptionalField(IsArray(invalidType('must be an array of event types')), { ...shown, description });
};
const modes = (description: string) => {
  const shown = { type: 'array' as const, minItems: 1, items: listOf(MODES), examples: [['live']] };
  return OptionalField(IsArray(invalidType('must be an array of modes')), { ...shown, description });
};
const notices = (description: string) => {
  const shown = { type: 'array' as const, items: listOf(NOTICE_TYPES), examples: [['batch.ended']] };
  return OptionalField(IsArray(invalidType('must be an array of notices')), { ...shown, description });
};
const description = (said: string) =>
  NullableField(IsString(stringType), {
    ...{ type: 'string', nullable: true, maxLength: MAX_DESCRIPTION_LENGTH, examples: ['orders'] },
    description: said,
  });
const headers = (shown: object) =>
  NullableField(IsObject(invalidType('must be an object of strings')), {
    ...{ type: 'object', nullable: true },
    ...shown,
  } as never);
const maxPerSecond = (said: string) =>
  NullableField(IsNumber({}, invalidType('must be a number')), {
    ...{ type: 'integer', nullable: true, minimum: 1, maximum: MAX_PER_SECOND, examples: [20] },
    description: said,
  });
const HEADER_SHOWN = { minLength: 1, maxLength: MAX_VALUE_LENGTH };

const ANYWHERE = ranges('0.0.0.0/0', '::/0');

/** Checks the rules of the text, without those that the operator can relax, so that one response has all errors. */
const urlErrors = (url: string): FieldError[] => {
  const verdict = checkWebhookUrl(url, { allowHttp: true, allowCidrs: ANYWHERE });
  return verdict.ok ? [] : fault('/url', verdict.code, verdict.detail);
};

/** Pointers name the header as it was sent; a name is no secret, a value may be one. */
const headersErrors = (headers: Readonly<Record<string, unknown>>, isPatch: boolean): FieldError[] =>
  headerFaults(headers, { isPatch }).map(({ name, code, detail }) => ({
    pointer: name === null ? '/headers' : toPointer(['headers', name]),
    code,
    detail,
  }));

type Settings = Omit<ChangeWebhookEndpointDto, 'fieldErrors'>;

/** The rules of the settings that were sent and have the right shape, in this order. */
const CHECKS: {
  readonly [Name in keyof Settings]?: (value: NonNullable<Settings[Name]>, isPatch: boolean) => FieldError[];
} = {
  url: urlErrors,
  events: (list) => {
    const ifEmpty = 'must name at least one event type';
    return listErrors('events', list, PUBLIC_EVENT_TYPES, 'unsupported_event_type', ifEmpty);
  },
  modes: (list) => listErrors('modes', list, MODES, 'invalid_value', 'must name at least one mode'),
  notices: (list) => listErrors('notices', list, NOTICE_TYPES, 'invalid_value'),
  description: (text) =>
    isLonger(text, MAX_DESCRIPTION_LENGTH)
      ? fault('/description', 'too_long', `must be at most ${MAX_DESCRIPTION_LENGTH} characters`)
      : [],
  headers: headersErrors,
  maxPerSecond: (rate) =>
    Number.isInteger(rate) && rate >= 1 && rate <= MAX_PER_SECOND
      ? []
      : fault(
          '/maxPerSecond',
          'invalid_value',
          `must be a whole number from 1 to ${MAX_PER_SECOND}, or null`,
        ),
};

const settingErrors = (
  settings: Settings,
  sound: (property: string) => boolean,
  isPatch: boolean,
): FieldError[] =>
  Object.entries(CHECKS).flatMap(([name, check]) => {
    const value = settings[name as keyof Settings] ?? null;
    return value === null || !sound(name)
      ? []
      : (check as (...of: unknown[]) => FieldError[])(value, isPatch);
  });

/** Body of POST /api/v1/webhooks. */
@ApiSchema({ name: 'CreateWebhookEndpoint' })
class CreateWebhookEndpointDto implements SelfChecking {
  @ApiProperty(URL_SHOWN)
  @IsDefined(required)
  @IsString(urlType)
  url!: string;

  @events('Default: all four')
  events?: PublicEventType[];

  @modes('Of the readings whose events it receives; default: `live`, for a test key `test`')
  modes?: Mode[];

  @notices('What it is told besides events; default: nothing')
  notices?: NoticeType[];

  @description('For you: the service does not use it')
  description?: string | null;

  @headers({
    maxProperties: MAX_HEADERS,
    additionalProperties: { type: 'string', ...HEADER_SHOWN },
    examples: [{ authorization: 'Bearer 4f7c0de1' }],
    description:
      'Sent with each delivery, values by name: at most ten. Stored sealed and never shown again; reserved names are refused',
  })
  headers?: Record<string, string> | null;

  @maxPerSecond('Deliveries sent in a second, at most; default: as fast as the endpoint answers')
  maxPerSecond?: number | null;

  fieldErrors(sound: (property: string) => boolean): FieldError[] {
    return settingErrors(this, sound, false);
  }
}

/** Body of PATCH /api/v1/webhooks/{endpointId}: a JSON Merge Patch (RFC 7396) of the fields that can change. */
@ApiSchema({ name: 'ChangeWebhookEndpoint' })
class ChangeWebhookEndpointDto implements SelfChecking {
  @OptionalField(IsString(urlType), URL_SHOWN)
  url?: string;

  @events('Replaces the whole choice')
  events?: PublicEventType[];

  @modes('Replaces the whole choice')
  modes?: Mode[];

  @notices('Replaces the whole choice; `[]` ends it')
  notices?: NoticeType[];

  @OptionalField(IsBoolean(booleanType), { description: 'Whether deliveries are sent', examples: [true] })
  enabled?: boolean;

  @description('null removes it')
  description?: string | null;

  @headers({
    additionalProperties: { type: 'string', nullable: true, ...HEADER_SHOWN },
    examples: [{ authorization: 'Bearer 4f7c0de1', 'x-tenant': null }],
    description:
      'Merged with the custom headers: null removes one, or all. Names each of them when they move to a URL of another scheme, host or port',
  })
  headers?: Record<string, string | null> | null;

  @maxPerSecond('Deliveries sent in a second, at most; null ends the limit')
  maxPerSecond?: number | null;

  fieldErrors(sound: (property: string) => boolean): FieldError[] {
    return settingErrors(this, sound, true);
  }
}

/** The modes a caller may give: a live key live, or both; a test key test; a bearer token any. @throws Problem validation_failed */
const allowedModes = (modes: readonly Mode[], { mode, sees }: Pick<Principal, 'mode' | 'sees'>) => {
  const isAllowed = sees.length > 1 || (modes.includes(mode) && (mode === 'live' || modes.length === 1));
  const detail =
    mode === 'live' ? 'must include live: you call in live mode' : 'must be test: you call in test mode';
  if (!isAllowed) throw invalidRequest([{ pointer: '/modes', code: 'invalid_value', detail }]);
  return MODES.filter((one) => modes.includes(one));
};

/**
 * Bodies of webhooks hold the workspace's own ids, which a session of the portal sees with persons:read alone. Without it, it
 * chooses no URL that they are sent to.
 * @throws Problem scope_missing
 */
const mayChooseUrl = ({ authMode, scopes }: Principal): void => {
  if (authMode === 'session' && !scopes.includes(PERSONS_SCOPE))
    throw new Problem('scope_missing', {
      detail: `A session without ${PERSONS_SCOPE} chooses no URL for webhooks`,
      members: { scope: PERSONS_SCOPE },
    });
};

/** Body of POST …/rotate-secret. */
@ApiSchema({ name: 'RotateSecret' })
class RotateSecretDto {
  @SecondsField({
    minimum: 0,
    maximum: MAX_OVERLAP_SECONDS,
    default: DAY_SECONDS,
    description: 'How long the previous secret still signs, in seconds',
    examples: [3_600],
  })
  overlapSeconds: number = DAY_SECONDS;
}

const MAX_DAYS = 35;
/** Tokens of the policy `read` that the health and the hours of an endpoint take: they read all that waits, or many sums. */
const COUNT_COST = 5;
/** Tokens of the policy `manage` that a trial takes: unlike deliveries, none waits longer because others failed. */
const TRIAL_COST = 10;

@WebhookRoutes()
export class EndpointsController {
  constructor(
    @Inject(POSTGRES) private readonly pool: pg.Pool,
    private readonly cursors: PageCursors,
    private readonly endpoints: Endpoints,
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
    const records = await pageOfEndpoints(this.pool, caller.workspaceId, sees, page.limit + 1, page.after);
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
    @StandingCaller() caller: StandingPrincipal,
    @Requester() by: RequestContext,
    @Res({ passthrough: true }) response: Response,
  ) {
    mayChooseUrl(caller);
    const choice = { ...body, modes: allowedModes(body.modes ?? [caller.mode], caller) };
    const { endpoint } = orProblem(await this.endpoints.create(caller, choice, by));
    response.set({ Location: `/api/v1/webhooks/${endpoint.endpointId}`, ETag: etagOf(0n) });
    return endpoint;
  }
}

@EndpointRoutes()
export class EndpointController {
  constructor(
    private readonly endpoints: Endpoints,
    private readonly requested: RequestedDeliveries,
    private readonly queues: QueueHealth,
    private readonly stats: GetEndpointStatsHandler,
    @Inject(CLOCK) private readonly clock: Clock,
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
    const { record, revision } = orProblem(await this.endpoints.find(endpointId, workspaceId));
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
    @StandingCaller() caller: StandingPrincipal,
    @Requester() by: RequestContext,
    @Res({ passthrough: true }) response: Response,
  ) {
    const { url, modes } = body;
    if (url !== undefined) mayChooseUrl(caller);
    const asked = { ...body, modes: modes && allowedModes(modes, caller) };
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
  @Post('test')
  @WritesWebhooks()
  @RateLimited('manage', TRIAL_COST)
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
    @StandingCaller() caller: StandingPrincipal,
    @Requester() by: RequestContext,
  ) {
    return orProblem(await this.requested.sendTrial(endpointId, caller, type, by)).delivery;
  }

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
    const { record } = orProblem(await this.endpoints.find(endpointId, workspaceId));
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
    const end = Date.parse(readInstant('until', until) ?? rfc3339(this.clock.now()));
    const chosen = readInstant('since', since);
    const start = chosen === null ? firstHour(end) : firstHour(Date.parse(chosen), 1);
    if (start >= end) throw invalidParameter('since', 'must be before `until`');
    if (end - start > MAX_DAYS * 24 * HOUR_MS)
      throw invalidParameter('since', `must be at most ${MAX_DAYS} days before \`until\``);
    orProblem(await this.endpoints.find(endpointId, workspaceId));
    const [from, to] = [rfc3339(start), rfc3339(end)];
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
