import { Controller, Delete, Get, Headers, HttpCode, Param, Query, Res } from '@nestjs/common';
import { CommandBus } from '@nestjs/cqrs';
import { ApiOperation, ApiQuery, ApiTags } from '@nestjs/swagger';
import { setTimeout as delay } from 'node:timers/promises';
import type { Request, Response } from 'express';
import { GivesPersonalData } from '#platform/audit/personal-data.js';
import { Accepts, Caller, type Principal, requireStanding } from '#platform/auth/authentication.js';
import { seesMode } from '#platform/auth/livemode.js';
import { ownRequest } from '#platform/cqrs/own-request.js';
import { parseInstant } from '#platform/http/instant.js';
import { Answers, Names, Refuses } from '#platform/http/openapi/operation.js';
import { PageCursors, tokensOfPage } from '#platform/http/page-cursor.js';
import { preferredWait } from '#platform/http/prefer-wait.js';
import { type FieldError, invalidRequest, Problem } from '#platform/http/problem.js';
import { parameterPointer } from '#platform/http/query-parameters.js';
import { sendJson } from '#platform/http/send-json.js';
import { RateLimited } from '#platform/rate-limit/rate-limit.guard.js';
import { EraseReading, READING_STATUSES } from '../contracts/messages.js';
import { type ShownRow, readingSummaryView, readingView } from '../projections.js';
import { type ListFilters, ReadingQuery } from '../read-models/reading.query.js';
import { isSameExternalId } from '../sealed-reading.js';
import {
  historyPageSchema,
  NAMED_READING,
  POLL_AFTER,
  readingPageSchema,
  readingSchema,
} from './reading.schemas.js';
import { externalIdFault, LONGEST_EXTERNAL_ID } from './request-reading.js';

type Given = { readonly [F in keyof ListFilters]: string | undefined };

/** @throws Problem validation_failed with every filter at fault */
const readFilters = ({ status, externalId, createdSince, createdUntil }: Given): ListFilters => {
  const errors: FieldError[] = [];
  const refuse = (name: keyof ListFilters, detail: string): null => {
    errors.push({ pointer: parameterPointer(name), code: 'invalid_value', detail });
    return null;
  };
  const instantOf = (name: keyof ListFilters, text: string | undefined): string | null =>
    text === undefined
      ? null
      : (parseInstant(text) ?? refuse(name, 'must be an RFC 3339 instant such as 2026-04-04T09:30:00Z'));
  const fault = externalId === undefined ? null : externalIdFault(externalId);
  const filters = {
    status:
      status === undefined
        ? null
        : (READING_STATUSES.find((one) => one === status) ??
          refuse('status', `must be one of ${READING_STATUSES.join(', ')}`)),
    externalId: fault ? refuse('externalId', fault.detail) : (externalId ?? null),
    createdSince: instantOf('createdSince', createdSince),
    createdUntil: instantOf('createdUntil', createdUntil),
  };
  const { createdSince: since, createdUntil: until } = filters;
  if (since !== null && until !== null && since >= until)
    refuse('createdUntil', 'must be after createdSince');
  if (errors.length > 0) throw invalidRequest(errors);
  return filters;
};

const instantFilter = (name: string, description: string) =>
  ApiQuery({
    name,
    required: false,
    description,
    schema: { type: 'string', format: 'date-time', examples: ['2026-04-04T00:00:00Z'] },
  });

/** How often a held request checks for a change, milliseconds. */
const LOOK_AGAIN_MS = 100;

/** A look for one external id among those of all readings. */
const SEARCH_COST = 5;

const tokensOfList = (request: Pick<Request, 'query'>): number =>
  Math.max(tokensOfPage(request), request.query['externalId'] === undefined ? 1 : SEARCH_COST);

/** Shows readings to their workspace, and erases what they know about a person. */
@Controller('api/v1/readings')
@Accepts({ apiKey: 'readings:read' })
@ApiTags('Readings')
export class ReadingsController {
  constructor(
    private readonly readings: ReadingQuery,
    private readonly cursors: PageCursors,
    private readonly commands: CommandBus,
  ) {}

  @Get()
  @RateLimited('read', tokensOfList)
  @GivesPersonalData()
  @ApiOperation({
    operationId: 'listReadings',
    summary: 'List the readings of the workspace',
    description:
      'Returns the newest first, without their inputs. A live key sees live readings, a test key test readings. Filters can be combined. Of an `externalId` that more than 1,000 readings have, a page may have fewer than `limit`, or none, although more follow: the list ends where `nextCursor` is `null`. The list follows within a moment: a reading accepted just now may be missing, though its own address knows it at once. A page counts as one request of the policy `read` for each 20 readings that it may have; with `externalId`, it counts as 5 requests at least.',
  })
  @ApiQuery({
    name: 'status',
    required: false,
    description: 'Only readings in this state',
    schema: { type: 'string', enum: [...READING_STATUSES] },
  })
  @ApiQuery({
    name: 'externalId',
    required: false,
    description: 'Only readings created with exactly this id. Erased readings are not found by it',
    schema: { type: 'string', minLength: 1, maxLength: LONGEST_EXTERNAL_ID, examples: ['order-4711'] },
  })
  @instantFilter('createdSince', 'Only readings created at this instant or later')
  @instantFilter('createdUntil', 'Only readings created before this instant')
  @Answers(200, 'A page of readings', readingPageSchema)
  async list(
    @Query('limit') limit: string | undefined,
    @Query('cursor') cursor: string | undefined,
    @Query('status') status: string | undefined,
    @Query('externalId') externalId: string | undefined,
    @Query('createdSince') createdSince: string | undefined,
    @Query('createdUntil') createdUntil: string | undefined,
    @Caller() caller: Principal,
  ) {
    const { workspaceId } = caller;
    // A key sees one mode.
    const livemode = seesMode(caller, true);
    const filters = readFilters({ status, externalId, createdSince, createdUntil });
    const scope = ['readings', workspaceId, String(livemode), JSON.stringify(filters)];
    const request = this.cursors.read(limit, cursor, ...scope);
    const { readings, after } = await this.readings.page(
      workspaceId,
      livemode,
      filters,
      request.limit + 1,
      request.after,
    );
    const page = this.cursors.page(
      readings,
      request.limit,
      ({ row }) => [row.created_at, row.reading_id],
      ...scope,
    );
    // A request that was not accepted may have left another external id with the key of a reading.
    const shown = page.data.filter(
      ({ input }) =>
        filters.externalId === null ||
        (input?.externalId !== undefined && isSameExternalId(input.externalId, filters.externalId)),
    );
    return {
      data: shown.map(({ row, input }) => readingSummaryView(row, input)),
      nextCursor: after === null ? page.nextCursor : this.cursors.seal(after, ...scope),
    };
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
    const seconds = preferredWait(prefer);
    let found = await this.own(readingId, caller);
    if (seconds > 0) {
      found = await this.changed(found, seconds, response);
      await requireStanding(response.req);
      response.set('Preference-Applied', `wait=${seconds}`);
    }
    const { row, input } = await this.readings.opened(found);
    const view = readingView(row, input);
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
      requireOwn(result.workspaceId, result.livemode, caller);
      return sendJson(response, result.bytes.toString('utf8'), ifNoneMatch);
    }
    const { erased_at: erasedAt, status } = await this.own(readingId, caller);
    // The result of a completed reading is unreadable only after its key was destroyed. The row may show that later.
    if (erasedAt !== null || status === 'completed') throw new Problem('reading_erased');
    if (status === 'failed')
      throw new Problem('reading_failed', { detail: 'A failed reading has no result' });
    throw new Problem('reading_not_completed', { headers: { 'Retry-After': POLL_AFTER } });
  }

  @Get(':readingId/events')
  @ApiOperation({
    operationId: 'getReadingHistory',
    summary: 'Get the history of a reading',
    description:
      'Returns the oldest events first: request, attempts, end, erasure. The history has no personal data, so an erasure does not remove it. Publications are not part of it: the reading shows them.',
  })
  @Names('readingId', 'reading_not_found', NAMED_READING)
  @Answers(200, 'A page of events', historyPageSchema)
  async history(
    @Param('readingId') readingId: string,
    @Query('limit') limit: string | undefined,
    @Query('cursor') cursor: string | undefined,
    @Caller() caller: Principal,
  ) {
    const { workspaceId } = caller;
    await this.own(readingId, caller);
    const scope = ['history', workspaceId, readingId];
    const page = this.cursors.read(limit, cursor, ...scope);
    const from = page.after === null ? 0 : Number(page.after[0]) + 1;
    const events = await this.readings.history(readingId, from, page.limit + 1);
    return this.cursors.page(events, page.limit, ({ revision }) => [String(revision)], ...scope);
  }

  /** An API key needs a scope of its own for it, so that no ordinary integration can destroy data. */
  @Delete(':readingId/personal-data')
  @Accepts({ apiKey: 'erasure', bearer: 'readings:write' })
  @HttpCode(204)
  @ApiOperation({
    operationId: 'erasePersonalData',
    summary: 'Erase the personal data of a reading',
    description:
      'Destroys the key that seals its name, birth date, gender, result and documents. It cannot be undone. An unfinished reading fails, and its credits are released. Repeating it changes nothing.',
  })
  @Names('readingId', 'reading_not_found', NAMED_READING)
  @Answers(204, 'The personal data is erased')
  async erase(@Param('readingId') readingId: string, @Caller() caller: Principal): Promise<void> {
    await this.own(readingId, caller);
    await this.commands.execute(new EraseReading(readingId, caller.workspaceId, ownRequest(caller.actor)));
    await this.readings.untilErased(readingId);
  }

  /** Holds the request until the state changes or the caller disconnects, for at most `seconds`. */
  private async changed(found: ShownRow, seconds: number, response: Response): Promise<ShownRow> {
    const deadline = Date.now() + seconds * 1_000;
    let current = found;
    while (current.status === found.status && !hasEnded(current) && !response.destroyed) {
      if (Date.now() + LOOK_AGAIN_MS > deadline) break;
      await delay(LOOK_AGAIN_MS);
      current = (await this.readings.find(found.reading_id)) ?? current;
    }
    return current;
  }

  private async own(readingId: string, caller: Principal): Promise<ShownRow> {
    const found = await this.readings.find(readingId);
    if (!found) throw new Problem('reading_not_found');
    requireOwn(found.workspace_id, found.livemode, caller);
    return found;
  }
}

const requireOwn = (workspaceId: string, livemode: boolean, caller: Principal): void => {
  if (workspaceId !== caller.workspaceId) throw new Problem('wrong_workspace');
  if (!seesMode(caller, livemode)) throw new Problem('reading_not_found');
};

const hasEnded = ({ status }: ShownRow): boolean => status === 'completed' || status === 'failed';
