import { Controller, Get, Headers, Param, Res } from '@nestjs/common';
import { ApiOperation, ApiTags } from '@nestjs/swagger';
import type { Response } from 'express';
import { setTimeout as delay } from 'node:timers/promises';
import { GivesPersonalData } from '#platform/audit/personal-data.js';
import { Accepts, Caller, requireStanding, type Principal } from '#platform/auth/authentication.js';
import { seesMode } from '#platform/auth/livemode.js';
import { Answers, Names, Refuses } from '#platform/http/openapi/operation.js';
import { Problem } from '#platform/http/problem.js';
import { preferredWait } from '#platform/http/prefer-wait.js';
import { sendJson } from '#platform/http/send-json.js';
import { readingView } from '../../domain/reading/reading-view.js';
import { ReadingQuery } from '../../read-models/reading/reading.query.js';
import type { StoredReading } from '../../read-models/reading/reading-row.js';
import { NAMED_READING, POLL_AFTER, readingSchema } from '../../http/reading.schemas.js';

/** How often a held request checks for a change, milliseconds. */
const LOOK_AGAIN_MS = 100;

/** Shows readings to their workspace. */
@Controller('api/v1/readings')
@Accepts({ apiKey: 'readings:read' })
@ApiTags('Readings')
export class ShowReadingsController {
  constructor(private readonly readings: ReadingQuery) {}

  @Get(':readingId')
  @GivesPersonalData()
  @ApiOperation({
    operationId: 'getReading',
    summary: 'Get a reading and its current state',
    description:
      'States go from `queued` to `processing` to `completed`, or to `failed`. `Retry-After` is there while the reading is unfinished.',
  })
  @Names('readingId', 'reading_not_found', NAMED_READING)
  @Answers(200, 'The reading', readingSchema, ['ETag', 'RetryAfter', 'PreferenceApplied'])
  async get(
    @Param('readingId') readingId: string,
    @Headers('if-none-match') ifNoneMatch: string | undefined,
    @Headers('prefer') prefer: string | undefined,
    @Caller() caller: Principal,
    @Res() response: Response,
  ): Promise<void> {
    const seconds = preferredWait(prefer);
    let found = await this.own(readingId, caller);
    if (seconds > 0) {
      found = await this.changed(found, seconds, response);
      await requireStanding(response.req);
      response.set('Preference-Applied', `wait=${seconds}`);
    }
    const { record, input } = await this.readings.opened(found);
    const view = readingView(record, input);
    if (view.status === 'queued' || view.status === 'processing') response.set('Retry-After', POLL_AFTER);
    sendJson(response, JSON.stringify(view), ifNoneMatch);
  }

  @Get(':readingId/result')
  @GivesPersonalData()
  @ApiOperation({
    operationId: 'getReadingResult',
    summary: 'Get the result of a completed reading',
    description: 'Numbers with their reduction trails, no prose. The bytes of a result never change.',
  })
  @Names('readingId', 'reading_not_found', NAMED_READING)
  @Answers(
    200,
    'The numbers of the reading',
    { 'application/json': { schema: { $ref: '#/components/schemas/result' } } },
    ['ETag'],
  )
  @Refuses('reading_not_completed', 'reading_failed', 'reading_erased')
  async result(
    @Param('readingId') readingId: string,
    @Headers('if-none-match') ifNoneMatch: string | undefined,
    @Caller() caller: Principal,
    @Res() response: Response,
  ): Promise<void> {
    const result = await this.readings.result(readingId);
    if (result) {
      if (result.workspaceId !== caller.workspaceId) throw new Problem('wrong_workspace');
      if (!seesMode(caller, result.livemode)) throw new Problem('reading_not_found');
      return sendJson(response, result.bytes.toString('utf8'), ifNoneMatch);
    }
    const { record } = await this.own(readingId, caller);
    // The result of a completed reading is unreadable only after its key was destroyed. The row may show that later.
    if (record.erasedAt !== null || record.status === 'completed') throw new Problem('reading_erased');
    if (record.status === 'failed')
      throw new Problem('reading_failed', { detail: 'A failed reading has no result' });
    throw new Problem('reading_not_completed', { headers: { 'Retry-After': POLL_AFTER } });
  }

  /** Holds the request until the state changes or the caller disconnects, for at most `seconds`. */
  private async changed(found: StoredReading, seconds: number, response: Response): Promise<StoredReading> {
    const deadline = Date.now() + seconds * 1_000;
    let current = found;
    while (current.record.status === found.record.status && !hasEnded(current) && !response.destroyed) {
      if (Date.now() + LOOK_AGAIN_MS > deadline) break;
      await delay(LOOK_AGAIN_MS);
      current = (await this.readings.find(found.record.readingId)) ?? current;
    }
    return current;
  }

  private async own(readingId: string, caller: Principal): Promise<StoredReading> {
    const found = await this.readings.find(readingId);
    if (!found) throw new Problem('reading_not_found');
    if (found.record.workspaceId !== caller.workspaceId) throw new Problem('wrong_workspace');
    if (!seesMode(caller, found.record.livemode)) throw new Problem('reading_not_found');
    return found;
  }
}

const hasEnded = ({ record: { status } }: StoredReading): boolean =>
  status === 'completed' || status === 'failed';
