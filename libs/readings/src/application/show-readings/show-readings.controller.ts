import { Controller, Get, Headers, Param, Query, Res } from '@nestjs/common';
import { ApiOperation, ApiQuery, ApiTags } from '@nestjs/swagger';
import type { Response } from 'express';
import { setTimeout as delay } from 'node:timers/promises';
import { GivesPersonalData } from '@app/platform/audit/personal-data.js';
import { Accepts, Caller, type Principal } from '@app/platform/auth/authentication.js';
import { livemodeOf, seesMode } from '@app/platform/auth/livemode.js';
import { Answers, Names, Refuses } from '@app/platform/http/openapi/operation.js';
import { PageCursors } from '@app/platform/http/page-cursor.js';
import { Problem } from '@app/platform/http/problem.js';
import { preferredWait } from '@app/platform/http/prefer-wait.js';
import { invalidParameter } from '@app/platform/http/query-parameters.js';
import { sendJson } from '@app/platform/http/send-json.js';
import { READING_STATUSES, type ReadingStatus } from '../../contracts/queries.js';
import { readingSummaryView, readingView } from '../../domain/reading/reading-view.js';
import { ReadingQuery } from '../../read-models/reading/reading.query.js';
import type { StoredReading } from '../../read-models/reading/reading-row.js';
import { NAMED_READING, POLL_AFTER, readingPageSchema, readingSchema } from '../../http/reading.schemas.js';

/** How often a held request checks for a change, milliseconds. */
const LOOK_AGAIN_MS = 100;

/** Shows readings to their workspace. */
@Controller('api/v1/readings')
@Accepts('apiKey')
@ApiTags('Readings')
export class ShowReadingsController {
  constructor(
    private readonly readings: ReadingQuery,
    private readonly cursors: PageCursors,
  ) {}

  /** The workspace's readings, newest first, without their inputs. */
  @Get()
  @ApiOperation({
    operationId: 'listReadings',
    summary: 'List the readings of the workspace',
    description:
      'Returns the newest first, without their inputs. A live key sees live readings, a test key test readings.',
  })
  @ApiQuery({ name: 'status', required: false, schema: { type: 'string', enum: [...READING_STATUSES] } })
  @Answers(200, 'A page of readings', readingPageSchema)
  async list(
    @Query('limit') limit: string | undefined,
    @Query('cursor') cursor: string | undefined,
    @Query('status') status: string | undefined,
    @Caller() caller: Principal,
  ) {
    const { workspaceId } = caller;
    const livemode = livemodeOf(caller);
    const wanted = readStatus(status);
    const scope = ['readings', workspaceId, String(livemode), wanted ?? ''] as const;
    const page = this.cursors.read(limit, cursor, ...scope);
    const records = await this.readings.page(workspaceId, livemode, wanted, page.limit + 1, page.after);
    const { data, nextCursor } = this.cursors.page(
      records,
      page.limit,
      ({ createdAt, readingId }) => [createdAt, readingId],
      ...scope,
    );
    return { data: data.map(readingSummaryView), nextCursor };
  }

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
    const found = await this.changed(await this.own(readingId, caller), preferredWait(prefer), response);
    const view = readingView(found.record, await this.readings.input(found));
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
    if (seconds === 0) return found;
    response.set('Preference-Applied', `wait=${seconds}`);
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

const readStatus = (status: string | undefined): ReadingStatus | null => {
  if (status === undefined) return null;
  const known = READING_STATUSES.find((one) => one === status);
  if (known) return known;
  throw invalidParameter('status', `must be one of ${READING_STATUSES.join(', ')}`);
};
