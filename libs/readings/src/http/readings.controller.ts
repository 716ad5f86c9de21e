import { Body, Controller, Get, Headers, HttpCode, Param, Post, Query, Res, UseGuards } from '@nestjs/common';
import { CommandBus } from '@nestjs/cqrs';
import { ApiOperation, ApiQuery, ApiTags } from '@nestjs/swagger';
import type { Response } from 'express';
import { setTimeout as delay } from 'node:timers/promises';
import type { RequestContext } from '@app/event-sourcing/core/request-context.js';
import { GivesPersonalData } from '@app/platform/audit/personal-data.js';
import { Accepts, Caller, type Principal } from '@app/platform/auth/authentication.js';
import { readIdempotencyKey } from '@app/platform/http/idempotency-key.js';
import { Answers, Names, Refuses } from '@app/platform/http/openapi/operation.js';
import { PageCursors } from '@app/platform/http/page-cursor.js';
import { Problem } from '@app/platform/http/problem.js';
import { preferredWait } from '@app/platform/http/prefer-wait.js';
import { invalidParameter } from '@app/platform/http/query-parameters.js';
import { Requester } from '@app/platform/http/requester.js';
import { sendJson } from '@app/platform/http/send-json.js';
import { OwnIdempotency } from '@app/platform/idempotency/idempotency.interceptor.js';
import { RateLimited } from '@app/platform/rate-limit/rate-limit.guard.js';
import { READING_STATUSES, type ReadingStatus } from '../contracts/queries.js';
import { RequestReading } from '../application/request-reading/request-reading.command.js';
import { readingSummaryView, readingView } from '../domain/reading/reading-view.js';
import { requestedFields } from '../domain/reading/requested-fields.js';
import { ReadingQuery } from '../read-models/reading/reading.query.js';
import type { StoredReading } from '../read-models/reading/reading-row.js';
import { CreateReadingDto } from './dto/create-reading.dto.js';
import { InFlightGuard } from './in-flight.guard.js';
import { NAMED_READING, readingPageSchema, readingSchema } from './reading.schemas.js';

/** Seconds a caller should wait before asking again about an unfinished reading. */
const POLL_AFTER = '2';
/** How often a held request looks for a change, milliseconds. */
const LOOK_AGAIN_MS = 100;

@Controller('api/v1/readings')
@Accepts('apiKey')
@ApiTags('Readings')
export class ReadingsController {
  constructor(
    private readonly commands: CommandBus,
    private readonly readings: ReadingQuery,
    private readonly cursors: PageCursors,
  ) {}

  @Post()
  @HttpCode(202)
  @RateLimited('create')
  @OwnIdempotency()
  @UseGuards(InFlightGuard)
  @ApiOperation({
    operationId: 'createReading',
    summary: 'Create a reading',
    description:
      'Accepts a reading and reserves its credits: they are captured when it is completed and given back when it fails. Follow it by polling, by `Prefer: wait`, or by webhooks.',
  })
  @Answers(202, 'The reading is accepted', readingSchema, ['Location', 'RetryAfter'])
  @Refuses(
    'unsupported_locale',
    'unknown_product',
    'unknown_profile',
    'insufficient_credits',
    'billing_misconfigured',
    'reading_erased',
  )
  async create(
    @Body() body: CreateReadingDto,
    @Headers('idempotency-key') idempotencyKey: string | undefined,
    @Caller() caller: Principal,
    @Requester() by: RequestContext,
    @Res({ passthrough: true }) response: Response,
  ) {
    const { name, dateOfBirth, grammaticalProfile } = body;
    const { firstNames, middleNames, lastNames } = name;
    const input = {
      name: { firstNames, middleNames, lastNames },
      dateOfBirth,
      grammaticalProfile: { subjectGender: grammaticalProfile.subjectGender },
    };
    const result = await this.commands.execute(
      new RequestReading(
        caller.workspaceId,
        { ...requestedFields(body), input },
        readIdempotencyKey(idempotencyKey),
        by,
      ),
    );
    switch (result.outcome) {
      case 'different_request':
        throw new Problem('idempotency_key_reused');
      case 'erased':
        throw new Problem('reading_erased');
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

  /** The workspace's readings, newest first, without their inputs. */
  @Get()
  @ApiOperation({
    operationId: 'listReadings',
    summary: 'List the readings of the workspace',
    description: 'The newest first, without their inputs.',
  })
  @ApiQuery({ name: 'status', required: false, schema: { type: 'string', enum: [...READING_STATUSES] } })
  @Answers(200, 'A page of readings', readingPageSchema)
  async list(
    @Query('limit') limit: string | undefined,
    @Query('cursor') cursor: string | undefined,
    @Query('status') status: string | undefined,
    @Caller() { workspaceId }: Principal,
  ) {
    const wanted = readStatus(status);
    const scope = ['readings', workspaceId, wanted ?? ''] as const;
    const page = this.cursors.read(limit, cursor, ...scope);
    const records = await this.readings.page(workspaceId, wanted, page.limit + 1, page.after);
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
    summary: 'Get a reading and where it stands',
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
      return sendJson(response, result.bytes.toString('utf8'), ifNoneMatch);
    }
    const { record } = await this.own(readingId, caller);
    // A completed one has a result, which nothing but the loss of its key makes unreadable: the row tells a moment later.
    if (record.erasedAt !== null || record.status === 'completed') throw new Problem('reading_erased');
    if (record.status === 'failed')
      throw new Problem('reading_failed', { detail: 'A failed reading has no result' });
    throw new Problem('reading_not_completed', { headers: { 'Retry-After': POLL_AFTER } });
  }

  /** Holds the request until the reading has another state, for so many seconds at most, or the caller goes away. */
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
