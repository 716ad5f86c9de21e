import { Controller, Get, Param, Query } from '@nestjs/common';
import { ApiOperation, ApiTags } from '@nestjs/swagger';
import { Accepts, Caller, type Principal } from '#platform/auth/authentication.js';
import { seesMode } from '#platform/auth/livemode.js';
import { Answers, Names } from '#platform/http/openapi/operation.js';
import { PageCursors } from '#platform/http/page-cursor.js';
import { Problem } from '#platform/http/problem.js';
import { ReadingQuery } from '../../read-models/reading/reading.query.js';
import { historyPageSchema, NAMED_READING } from '../../http/reading.schemas.js';

/** What happened to a reading, for its owner. */
@Controller('api/v1/readings/:readingId/events')
@Accepts({ apiKey: 'readings:read' })
@ApiTags('Readings')
@Names('readingId', 'reading_not_found', NAMED_READING)
export class ShowHistoryController {
  constructor(
    private readonly readings: ReadingQuery,
    private readonly cursors: PageCursors,
  ) {}

  @Get()
  @ApiOperation({
    operationId: 'getReadingHistory',
    summary: 'Get the history of a reading',
    description:
      'Returns the oldest events first: request, attempts, end, erasure. The history has no personal data, so an erasure does not remove it. Publications are not part of it: the reading shows them.',
  })
  @Answers(200, 'A page of events', historyPageSchema)
  async list(
    @Param('readingId') readingId: string,
    @Query('limit') limit: string | undefined,
    @Query('cursor') cursor: string | undefined,
    @Caller() caller: Principal,
  ) {
    const { workspaceId } = caller;
    const found = await this.readings.find(readingId);
    if (!found) throw new Problem('reading_not_found');
    if (found.record.workspaceId !== workspaceId) throw new Problem('wrong_workspace');
    if (!seesMode(caller, found.record.livemode)) throw new Problem('reading_not_found');
    const scope = ['history', workspaceId, readingId];
    const page = this.cursors.read(limit, cursor, ...scope);
    const from = page.after === null ? 0 : Number(page.after[0]) + 1;
    const events = await this.readings.history(readingId, from, page.limit + 1);
    return this.cursors.page(events, page.limit, ({ revision }) => [String(revision)], ...scope);
  }
}
