import { Controller, Get, Query } from '@nestjs/common';
import { ApiOperation, ApiQuery, ApiTags } from '@nestjs/swagger';
import type { Request } from 'express';
import { GivesPersonalData } from '#platform/audit/personal-data.js';
import { Accepts, Caller, type Principal } from '#platform/auth/authentication.js';
import { livemodeOf } from '#platform/auth/livemode.js';
import { Answers } from '#platform/http/openapi/operation.js';
import { DEFAULT_LIMIT, LARGEST_LIMIT, PageCursors } from '#platform/http/page-cursor.js';
import { RateLimited } from '#platform/rate-limit/rate-limit.guard.js';
import { READING_STATUSES } from '../../contracts/queries.js';
import { readingSummaryView } from '../../domain/reading/reading-view.js';
import { isSameExternalId } from '../../external-id.js';
import { readFilters } from '../../http/list-filters.js';
import { readingPageSchema } from '../../http/reading.schemas.js';
import { LONGEST_EXTERNAL_ID } from '../../http/reference-rules.js';
import { ReadingQuery } from '../../read-models/reading/reading.query.js';

const instantFilter = (name: string, description: string) =>
  ApiQuery({
    name,
    required: false,
    description,
    schema: { type: 'string', format: 'date-time', examples: ['2026-04-04T00:00:00Z'] },
  });

/** Readings of a page that count as one request: each is opened, and may have 4 KB of metadata. */
const READINGS_A_TOKEN = 20;

/** What a page counts as. One that asks for too many, or for nonsense, is refused, and counts as one. */
const tokensOf = ({ query }: Request): number => {
  const limit = Number(query['limit'] ?? DEFAULT_LIMIT);
  return limit >= 1 && limit <= LARGEST_LIMIT ? Math.ceil(limit / READINGS_A_TOKEN) : 1;
};

/** Lists the readings of a workspace, newest first, without the persons. */
@Controller('api/v1/readings')
@Accepts({ apiKey: 'readings:read' })
@ApiTags('Readings')
export class ListReadingsController {
  constructor(
    private readonly readings: ReadingQuery,
    private readonly cursors: PageCursors,
  ) {}

  @Get()
  @RateLimited('read', tokensOf)
  @GivesPersonalData()
  @ApiOperation({
    operationId: 'listReadings',
    summary: 'List the readings of the workspace',
    description:
      'Returns the newest first, without their inputs. A live key sees live readings, a test key test readings. Filters can be combined. The list follows within a moment: a reading accepted just now may be missing, though its own address knows it at once. A page counts as one request of the policy `read` for each 20 readings that it may have.',
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
    const livemode = livemodeOf(caller);
    const filters = readFilters({ status, externalId, createdSince, createdUntil });
    const scope = ['readings', workspaceId, String(livemode), JSON.stringify(filters)];
    const request = this.cursors.read(limit, cursor, ...scope);
    const found = await this.readings.page(workspaceId, livemode, filters, request.limit + 1, request.after);
    const page = this.cursors.page(
      found,
      request.limit,
      ({ record: { createdAt, readingId } }) => [createdAt, readingId],
      ...scope,
    );
    // A request that was not accepted may have left another external id with the key of a reading.
    const shown = page.data.filter(
      ({ input }) =>
        filters.externalId === null ||
        (input?.externalId !== undefined && isSameExternalId(input.externalId, filters.externalId)),
    );
    return {
      data: shown.map(({ record, input }) => readingSummaryView(record, input)),
      nextCursor: page.nextCursor,
    };
  }
}
