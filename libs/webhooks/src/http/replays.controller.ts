import {
  Body,
  Controller,
  Get,
  Header,
  Headers,
  HttpCode,
  Param,
  Post,
  Res,
  UseInterceptors,
} from '@nestjs/common';
import { CommandBus } from '@nestjs/cqrs';
import { ApiAcceptedResponse, ApiHeader, ApiOkResponse, ApiOperation } from '@nestjs/swagger';
import type { Response } from 'express';
import { OwnIdempotency } from '@app/platform/idempotency/idempotency.interceptor.js';
import { Accepts, Caller, ScopeArea, type Principal } from '@app/platform/auth/authentication.js';
import { readIdempotencyKey } from '@app/platform/http/idempotency-key.js';
import { EndpointAccess } from '../application/endpoint-access.js';
import { WebhookRefused } from '../contracts/errors.js';
import { ReplayEvents } from '../contracts/replay.js';
import { ReplayRows } from '../read-models/replay/replay-rows.js';
import { ReplayDto } from './dto/replay.dto.js';
import { parseInstant } from './query-parameters.js';
import { RefusalsAsProblems } from './refusals.js';

/** Sends past events again. */
@Controller('api/v1/webhooks/:endpointId')
@Accepts('apiKey', 'bearer')
@ScopeArea('webhooks')
@UseInterceptors(RefusalsAsProblems)
export class ReplaysController {
  constructor(
    private readonly commands: CommandBus,
    private readonly access: EndpointAccess,
    private readonly rows: ReplayRows,
  ) {}

  @Post('replay')
  @OwnIdempotency()
  @HttpCode(202)
  @Header('Cache-Control', 'no-store')
  @ApiOperation({
    summary: 'Send past events of the workspace to this endpoint',
    description:
      'In the order in which they happened, also from before the endpoint existed: the same ids and bytes. `dryRun` only counts.',
  })
  @ApiHeader({ name: 'Idempotency-Key', required: false, description: '1 to 255 printable ASCII characters' })
  @ApiAcceptedResponse({ description: 'The replay is queued; `Location` tells how far it is' })
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
    const { record, repeated } = await this.commands.execute(
      new ReplayEvents(endpointId, workspaceId, choice, readIdempotencyKey(idempotencyKey)),
    );
    response.set('Location', `/api/v1/webhooks/${endpointId}/replays/${record.replayId}`);
    if (repeated) response.set('Idempotency-Replayed', 'true');
    return record;
  }

  @Get('replays/:replayId')
  @Header('Cache-Control', 'no-store')
  @ApiOperation({ summary: 'How far a replay is, and what became of what it sent' })
  @ApiOkResponse({ description: 'The replay' })
  async get(
    @Param('endpointId') endpointId: string,
    @Param('replayId') replayId: string,
    @Caller() { workspaceId }: Principal,
  ) {
    await this.access.require(endpointId, workspaceId);
    const record = await this.rows.find(endpointId, replayId);
    if (!record) throw new WebhookRefused('not_found', 'The endpoint has no such replay');
    return record;
  }
}
