import {
  Body,
  Controller,
  Delete,
  Get,
  Headers,
  HttpCode,
  Param,
  Post,
  Res,
  UseGuards,
} from '@nestjs/common';
import { CommandBus } from '@nestjs/cqrs';
import { ApiOperation, ApiTags } from '@nestjs/swagger';
import type { Response } from 'express';
import { OwnIdempotency } from '@app/platform/idempotency/idempotency.interceptor.js';
import { Accepts, Caller, ScopeArea, type Principal } from '@app/platform/auth/authentication.js';
import { readIdempotencyKey } from '@app/platform/http/idempotency-key.js';
import { EndpointAccess } from '../application/endpoint-access.js';
import { Answers, Names, Refuses } from '@app/platform/http/openapi/operation.js';
import { parseInstant } from '@app/platform/http/instant.js';
import { ReplayEvents, StopReplay } from '../contracts/replay.js';
import { ReplayRows } from '../read-models/replay/replay-rows.js';
import { ReplayDto } from './dto/replay.dto.js';
import { OwnEndpointGuard } from './own-endpoint.guard.js';
import { orProblem, problemOf } from './refusals.js';
import { NAMED_ENDPOINT, NAMED_REPLAY, replaySchema } from './webhook.schemas.js';

/** Sends past events again. */
@Controller('api/v1/webhooks/:endpointId')
@Accepts('apiKey', 'bearer')
@ScopeArea('webhooks')
@ApiTags('Webhooks')
@Names('endpointId', 'webhook_not_found', NAMED_ENDPOINT)
export class ReplaysController {
  constructor(
    private readonly commands: CommandBus,
    private readonly access: EndpointAccess,
    private readonly rows: ReplayRows,
  ) {}

  @Post('replay')
  @UseGuards(OwnEndpointGuard)
  @OwnIdempotency()
  @HttpCode(202)
  @ApiOperation({
    operationId: 'replayEvents',
    summary: 'Send past events of the workspace to an endpoint',
    description:
      'In the order in which they happened, also from before the endpoint existed: the same ids and bytes. `dryRun` only counts. One replay of an endpoint runs at a time, dry runs beside it.',
  })
  @Answers(202, 'The replay is queued; `Location` tells how far it is', replaySchema, ['Location'])
  @Refuses('unsupported_event_type', 'precondition_failed', 'replay_in_progress')
  async replay(
    @Param('endpointId') endpointId: string,
    @Body() { since, until, types, statuses, dryRun }: ReplayDto,
    @Headers('idempotency-key') idempotencyKey: string | undefined,
    @Caller() { workspaceId }: Principal,
    @Res({ passthrough: true }) response: Response,
  ) {
    const choice = {
      since: parseInstant(since)!,
      until: until === undefined ? null : parseInstant(until),
      types: types ? [...new Set(types)] : null,
      statuses: statuses ? [...new Set(statuses)] : null,
      dryRun,
    };
    const key = readIdempotencyKey(idempotencyKey);
    const { outcome, record } = orProblem(
      await this.commands.execute(new ReplayEvents(endpointId, workspaceId, choice, key)),
    );
    response.set('Location', `/api/v1/webhooks/${endpointId}/replays/${record.replayId}`);
    if (outcome === 'repeated') response.set('Idempotency-Replayed', 'true');
    return record;
  }

  @Get('replays/:replayId')
  @ApiOperation({
    operationId: 'getReplay',
    summary: 'See how far a replay is',
    description: 'And what became of what it sent.',
  })
  @Names('replayId', 'not_found', NAMED_REPLAY)
  @Answers(200, 'The replay', replaySchema)
  async get(
    @Param('endpointId') endpointId: string,
    @Param('replayId') replayId: string,
    @Caller() { workspaceId }: Principal,
  ) {
    orProblem(await this.access.find(endpointId, workspaceId));
    const record = await this.rows.find(endpointId, replayId);
    if (!record) throw problemOf({ outcome: 'replay_not_found' });
    return record;
  }

  @Delete('replays/:replayId')
  @ApiOperation({
    operationId: 'stopReplay',
    summary: 'Stop a replay',
    description: 'It queues nothing more; what it has queued is sent. One that has ended stays as it is.',
  })
  @Names('replayId', 'not_found', NAMED_REPLAY)
  @Answers(200, 'The replay as it is now', replaySchema)
  async stop(
    @Param('endpointId') endpointId: string,
    @Param('replayId') replayId: string,
    @Caller() { workspaceId }: Principal,
  ) {
    return orProblem(await this.commands.execute(new StopReplay(endpointId, workspaceId, replayId))).record;
  }
}
