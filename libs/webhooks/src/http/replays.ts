import { ApiProperty, ApiSchema, ApiOperation } from '@nestjs/swagger';
import { IsArray, IsBoolean, IsDefined, IsString } from 'class-validator';
import type { SelfChecking } from '#platform/http/body.pipe.js';
import { booleanType, OptionalField, required } from '#platform/http/body-rules.js';
import { parseInstant } from '#platform/http/instant.js';
import type { FieldError } from '#platform/http/problem.js';
import {
  REPLAYABLE_STATUSES,
  type ReplayableStatus,
  PUBLIC_EVENT_TYPES,
  type PublicEventType,
  type ReplayRecord,
  replayRecord,
  ReplayEvents,
} from '../contracts/index.js';
import { apiSchema } from '#platform/http/openapi/api-schema.js';
import {
  ENDPOINT_ID,
  REPLAY_ID,
  AT,
  invalidType,
  listOf,
  fault,
  listErrors,
  orProblem,
  problemOf,
  EndpointRoutes,
  NamesReplay,
  ReadsWebhooks,
  WritesWebhooks,
} from './routes.js';
import { Body, Delete, Get, HttpCode, Inject, Param, Post, Res, Headers } from '@nestjs/common';
import { CommandBus } from '@nestjs/cqrs';
import type { Response } from 'express';
import { setTimeout as delay } from 'node:timers/promises';
import { readIdempotencyKey } from '#platform/http/idempotency-key.js';
import { OwnIdempotency } from '#platform/idempotency/idempotency.interceptor.js';
import {
  Caller,
  StandingCaller,
  type Principal,
  type StandingPrincipal,
} from '#platform/auth/authentication.js';
import { Answers, Refuses } from '#platform/http/openapi/operation.js';
import { RateLimited } from '#platform/rate-limit/rate-limit.guard.js';
import { ReplayRows } from '../application/replay.js';

const replaySchema = apiSchema('Replay', replayRecord, 'Sends past events again.', {
  replayId: REPLAY_ID,
  endpointId: ENDPOINT_ID,
  since: '2026-04-01T00:00:00.000Z',
  until: AT,
  types: ['reading.completed'],
  statuses: ['missing', 'skipped', 'exhausted'],
  modes: ['live'],
  dryRun: false,
  state: 'queued',
  events: 0,
  progress: 0,
  deliveries: { pending: 0, succeeded: 0, exhausted: 0, skipped: 0 },
  createdAt: AT,
  finishedAt: null,
});

const instantDetail = 'must be an RFC 3339 instant such as 2026-04-04T09:30:00Z';
const isInstant = IsString(invalidType(instantDetail));
const isList = IsArray(invalidType('must be an array'));
const IF_EMPTY = 'must not be empty: leave it out for all';

/** Body of POST …/replay. */
@ApiSchema({ name: 'ReplayEvents' })
class ReplayDto implements SelfChecking {
  @ApiProperty({
    format: 'date-time',
    description: 'Sends events from this time on',
    examples: ['2026-04-01T00:00:00Z'],
  })
  @IsDefined(required)
  @isInstant
  since!: string;

  @OptionalField(isInstant, {
    format: 'date-time',
    description: 'Sends only events before this time; default: now',
    examples: ['2026-04-04T00:00:00Z'],
  })
  until?: string;

  @OptionalField(isList, {
    type: 'array',
    minItems: 1,
    items: listOf(PUBLIC_EVENT_TYPES),
    description: 'Default: the types that the endpoint subscribes to',
    examples: [['reading.completed']],
  })
  types?: PublicEventType[];

  @OptionalField(isList, {
    type: 'array',
    minItems: 1,
    items: listOf(REPLAYABLE_STATUSES),
    description: 'Outcomes of events at this endpoint; default: every outcome except a successful delivery',
    examples: [['missing', 'skipped']],
  })
  statuses?: ReplayableStatus[];

  @OptionalField(IsBoolean(booleanType), {
    default: false,
    description: 'Counts and sends nothing',
    examples: [true],
  })
  dryRun: boolean = false;

  fieldErrors(sound: (property: string) => boolean): FieldError[] {
    const { since, until, types, statuses } = this;
    const errors = Object.entries({ since, until }).flatMap(([name, text]) =>
      text === undefined || !sound(name) || parseInstant(text) !== null
        ? []
        : fault(`/${name}`, 'invalid_value', instantDetail),
    );
    const [from, to] = [since, until].map((text) => (typeof text === 'string' ? parseInstant(text) : null));
    if (from && to && from >= to) errors.push(...fault('/until', 'invalid_value', 'must be after since'));
    return [
      ...errors,
      ...(types && sound('types')
        ? listErrors('types', types, PUBLIC_EVENT_TYPES, 'unsupported_event_type', IF_EMPTY)
        : []),
      ...(statuses && sound('statuses')
        ? listErrors('statuses', statuses, REPLAYABLE_STATUSES, 'invalid_value', IF_EMPTY)
        : []),
    ];
  }
}

const LOOK_AGAIN_MS = 50;
/** Longest wait of a request for the count of its dry run (ms): 5 s. A worker counts within moments. */
export const DRY_RUN_WAIT_MS = Symbol('DryRunWaitMs');
/** Tokens of the policy `manage` that a replay takes: each of its events is looked up, or stored and sent again. */
const COST = 30;
/** Tokens of the policy `read` that its progress takes: it counts all its deliveries. */
const COUNT_COST = 10;

@EndpointRoutes()
export class ReplayController {
  constructor(
    private readonly commands: CommandBus,
    private readonly rows: ReplayRows,
    @Inject(DRY_RUN_WAIT_MS) private readonly dryRunWaitMs: number,
  ) {}

  @Post('replay')
  @WritesWebhooks()
  @OwnIdempotency()
  @RateLimited('manage', COST)
  @HttpCode(202)
  @ApiOperation({
    operationId: 'replayEvents',
    summary: 'Send past events of the workspace to an endpoint',
    description:
      'Sends them in order, with the same ids and bytes, including events from before the endpoint existed. `dryRun` only counts them; the answer has the count, unless that takes longer than the service waits. An endpoint has one running replay at a time for each mode; dry runs do not count. A `since` from before the events that are kept is 410, with the earliest instant. A replay or dry run counts as 30 requests of the policy `manage`.',
  })
  @Answers(
    202,
    'The replay is queued, or the dry run has counted; `Location` shows the progress',
    replaySchema,
    ['Location'],
  )
  @Refuses('unsupported_event_type', 'precondition_failed', 'replay_in_progress', 'no_longer_kept')
  async replay(
    @Param('endpointId') endpointId: string,
    @Body() { since, until, types, statuses, dryRun }: ReplayDto,
    @Headers('idempotency-key') idempotencyKey: string | undefined,
    @StandingCaller() { workspaceId, sees, stands }: StandingPrincipal,
    @Res({ passthrough: true }) response: Response,
  ) {
    const choice = {
      since: parseInstant(since)!,
      until: until === undefined ? null : parseInstant(until),
      types: types ? [...new Set(types)] : null,
      statuses: statuses ? [...new Set(statuses)] : null,
      modes: sees,
      dryRun,
    };
    const key = readIdempotencyKey(idempotencyKey);
    const { outcome, record } = orProblem(
      await this.commands.execute(new ReplayEvents(endpointId, workspaceId, choice, key, stands)),
    );
    const answer = dryRun ? await this.counted(record, stands) : record;
    response.set('Location', `/api/v1/webhooks/${endpointId}/replays/${record.replayId}`);
    if (outcome === 'repeated') response.set('Idempotency-Replayed', 'true');
    return answer;
  }

  /** A dry run ends within moments. Holds the request until then, so that its answer has the count. */
  private async counted(queued: ReplayRecord, stands: () => Promise<void>): Promise<ReplayRecord> {
    const givesUpAt = performance.now() + this.dryRunWaitMs;
    let record = queued;
    while (record.finishedAt === null && performance.now() < givesUpAt) {
      await delay(LOOK_AGAIN_MS);
      record = (await this.rows.find(queued.endpointId, queued.replayId)) ?? record;
    }
    await stands();
    return record;
  }

  @Get('replays/:replayId')
  @ReadsWebhooks()
  @RateLimited('read', COUNT_COST)
  @ApiOperation({
    operationId: 'getReplay',
    summary: 'Get the progress of a replay',
    description: 'Also counts its deliveries by status, and counts as 10 requests of the policy `read`.',
  })
  @NamesReplay()
  @Answers(200, 'The replay', replaySchema)
  async get(
    @Param('endpointId') endpointId: string,
    @Param('replayId') replayId: string,
    @Caller() { sees }: Principal,
  ) {
    return (await this.rows.find(endpointId, replayId, sees)) ?? notFound();
  }

  @Delete('replays/:replayId')
  @WritesWebhooks()
  @RateLimited('manage', COUNT_COST)
  @ApiOperation({
    operationId: 'stopReplay',
    summary: 'Stop a replay',
    description:
      'It queues nothing more; queued deliveries are still sent. A replay that has ended does not change. Also counts its deliveries by status, and counts as 10 requests of the policy `manage`.',
  })
  @NamesReplay()
  @Answers(200, 'The replay as it is now', replaySchema)
  async stop(
    @Param('endpointId') endpointId: string,
    @Param('replayId') replayId: string,
    @Caller() { sees }: Principal,
  ) {
    return (await this.rows.stop(endpointId, replayId, sees)) ?? notFound();
  }
}

const notFound = (): never => {
  throw problemOf({ outcome: 'replay_not_found' });
};
