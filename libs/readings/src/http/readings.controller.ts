import { Body, Controller, Get, Headers, HttpCode, Param, Post, Res } from '@nestjs/common';
import { CommandBus } from '@nestjs/cqrs';
import type { Response } from 'express';
import { Accepts, Caller, type Principal } from '@app/platform/auth/authentication.js';
import { readIdempotencyKey } from '@app/platform/http/idempotency-key.js';
import { Problem } from '@app/platform/http/problem.js';
import { RequestId } from '@app/platform/http/request-id.js';
import { sendJson } from '@app/platform/http/send-json.js';
import { RequestReading } from '../application/request-reading/request-reading.js';
import { readingView } from '../domain/reading/reading-view.js';
import { ReadingQuery } from '../read-models/reading/reading.query.js';
import type { StoredReading } from '../read-models/reading/stored-reading.js';
import { CreateReadingDto } from './dto/create-reading.dto.js';

/** Seconds a caller should wait before asking again about an unfinished reading. */
const POLL_AFTER = '2';

@Controller('api/v1/readings')
@Accepts('apiKey')
export class ReadingsController {
  constructor(
    private readonly commands: CommandBus,
    private readonly readings: ReadingQuery,
  ) {}

  @Post()
  @HttpCode(202)
  async create(
    @Body() body: CreateReadingDto,
    @Headers('idempotency-key') idempotencyKey: string | undefined,
    @Caller() caller: Principal,
    @RequestId() requestId: string,
    @Res({ passthrough: true }) response: Response,
  ) {
    const { productId, profileId, locale, name, dateOfBirth, grammaticalProfile } = body;
    const { firstNames, middleNames, lastNames } = name;
    const input = {
      name: { firstNames, middleNames, lastNames },
      dateOfBirth,
      grammaticalProfile: { subjectGender: grammaticalProfile.subjectGender },
    };
    const result = await this.commands.execute(
      new RequestReading(
        caller.workspaceId,
        { productId, profileId, locale, input },
        readIdempotencyKey(idempotencyKey),
        { actor: caller.actor, requestId },
      ),
    );
    switch (result.outcome) {
      case 'different_request':
        throw new Problem('idempotency_key_reused');
      case 'billing_misconfigured':
        throw new Problem('billing_misconfigured', { headers: { 'Retry-After': '60' } });
      case 'insufficient_credits': {
        const { required, available } = result;
        throw new Problem('insufficient_credits', {
          detail: `The reading costs ${required} credits; ${available} are available`,
          members: { required, available },
        });
      }
      case 'accepted':
      case 'replayed':
        response.set({ Location: `/api/v1/readings/${result.reading.readingId}`, 'Retry-After': POLL_AFTER });
        if (result.outcome === 'replayed') response.set('Idempotency-Replayed', 'true');
        return result.reading;
    }
  }

  @Get(':readingId')
  async get(
    @Param('readingId') readingId: string,
    @Headers('if-none-match') ifNoneMatch: string | undefined,
    @Caller() caller: Principal,
    @Res() response: Response,
  ): Promise<void> {
    const found = await this.own(readingId, caller);
    const view = readingView(found.record, await this.readings.input(found));
    if (view.status === 'queued' || view.status === 'processing') response.set('Retry-After', POLL_AFTER);
    sendJson(response, JSON.stringify(view), ifNoneMatch);
  }

  @Get(':readingId/result')
  async result(
    @Param('readingId') readingId: string,
    @Headers('if-none-match') ifNoneMatch: string | undefined,
    @Caller() caller: Principal,
    @Res() response: Response,
  ): Promise<void> {
    const result = await this.readings.result(readingId);
    if (result) {
      if (result.workspaceId !== caller.workspaceId) throw new Problem('wrong_workspace');
      return sendJson(response, result.bytes.toString('utf8'), ifNoneMatch, result.sha256);
    }
    const { record } = await this.own(readingId, caller);
    if (record.status === 'failed')
      throw new Problem('reading_failed', { detail: 'A failed reading has no result' });
    throw new Problem('reading_not_completed', { headers: { 'Retry-After': POLL_AFTER } });
  }

  private async own(readingId: string, caller: Principal): Promise<StoredReading> {
    const found = await this.readings.find(readingId);
    if (!found) throw new Problem('reading_not_found');
    if (found.record.workspaceId !== caller.workspaceId) throw new Problem('wrong_workspace');
    return found;
  }
}
