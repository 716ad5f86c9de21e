import { Body, Delete, Get, Headers, HttpCode, Inject, Param, Post, Res } from '@nestjs/common';
import { CommandBus } from '@nestjs/cqrs';
import { ApiOperation } from '@nestjs/swagger';
import type { Request, Response } from 'express';
import { setTimeout as delay } from 'node:timers/promises';
import { OwnIdempotency } from '#platform/idempotency/idempotency.interceptor.js';
import { Caller, requireStanding, type Principal } from '#platform/auth/authentication.js';
import { readIdempotencyKey } from '#platform/http/idempotency-key.js';
import { Answers, Refuses } from '#platform/http/openapi/operation.js';
import { parseInstant } from '#platform/http/instant.js';
import { RateLimited } from '#platform/rate-limit/rate-limit.guard.js';
import { ReplayEvents, type ReplayRecord } from '../contracts/deliveries.js';
import { ReplayRows } from './replay.js';
import { ReplayDto } from '../http/bodies.js';
import {
  orProblem,
  problemOf,
  EndpointRoutes,
  NamesReplay,
  ReadsWebhooks,
  WritesWebhooks,
} from '../http/routes.js';
import { replaySchema } from '../http/webhook.schemas.js';

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
    @Caller() { workspaceId, sees }: Principal,
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
      await this.commands.execute(new ReplayEvents(endpointId, workspaceId, choice, key)),
    );
    const answer = dryRun ? await this.counted(record, response.req) : record;
    response.set('Location', `/api/v1/webhooks/${endpointId}/replays/${record.replayId}`);
    if (outcome === 'repeated') response.set('Idempotency-Replayed', 'true');
    return answer;
  }

  /** A dry run ends within moments. Holds the request until then, so that its answer has the count. */
  private async counted(queued: ReplayRecord, request: Request): Promise<ReplayRecord> {
    const givesUpAt = performance.now() + this.dryRunWaitMs;
    let record = queued;
    while (record.finishedAt === null && performance.now() < givesUpAt) {
      await delay(LOOK_AGAIN_MS);
      record = (await this.rows.find(queued.endpointId, queued.replayId)) ?? record;
    }
    await requireStanding(request);
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
