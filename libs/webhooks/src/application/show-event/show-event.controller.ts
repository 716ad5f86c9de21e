import { Controller, Get, Headers, Param, Req, Res } from '@nestjs/common';
import { QueryBus } from '@nestjs/cqrs';
import { ApiOperation, ApiTags } from '@nestjs/swagger';
import type { Request, Response } from 'express';
import { GivesPersonalData, setAbout } from '#platform/audit/personal-data.js';
import { Accepts, Caller, type Principal } from '#platform/auth/authentication.js';
import { Answers, Refuses } from '#platform/http/openapi/operation.js';
import { Problem } from '#platform/http/problem.js';
import { sendJson } from '#platform/http/send-json.js';
import { eventOrNoticeSchema } from '../../http/public-event.schema.js';
import { problemOf } from '../../http/refusals.js';
import { NamesEvent } from '../../http/webhook-routes.js';
import { DeletedPast } from '../../read-models/deleted-past/deleted-past.js';
import { EventFeed } from '../../read-models/event-feed/event-feed.js';
import { wholeBody } from '../whole-bodies.js';

/** One event, as webhooks push it. */
@Controller('api/v1/events')
@Accepts({ apiKey: 'events:read', bearer: 'events:read' })
@ApiTags('Events')
export class ShowEventController {
  constructor(
    private readonly feed: EventFeed,
    private readonly deleted: DeletedPast,
    private readonly queries: QueryBus,
  ) {}

  @Get(':eventId')
  @GivesPersonalData()
  @ApiOperation({
    operationId: 'getEvent',
    summary: 'Get an event',
    description:
      'Returns the same bytes as its webhooks; also those of a notice. Once events of the workspace are deleted after their term, an unknown id is 410: the service keeps no list of deleted ids.',
  })
  @NamesEvent()
  @Answers(200, 'The event or notice', eventOrNoticeSchema, ['ETag'])
  @Refuses('no_longer_kept')
  async one(
    @Param('eventId') eventId: string,
    @Headers('if-none-match') ifNoneMatch: string | undefined,
    @Caller() { workspaceId, sees }: Principal,
    @Req() request: Request,
    @Res() response: Response,
  ): Promise<void> {
    const event = await this.feed.find(eventId, sees);
    if (event === null) throw await this.missing(workspaceId, sees);
    if (event.workspaceId !== workspaceId) throw new Problem('wrong_workspace');
    if (event.readingId !== null) setAbout(request, event.readingId);
    sendJson(response, await wholeBody(event, this.queries), ifNoneMatch);
  }

  /** Depends on the caller's own workspace alone, so it tells nothing of others. */
  private async missing(workspaceId: string, modes: Principal['sees']): Promise<Problem> {
    const past = await this.deleted.ofFeed(workspaceId, null, modes);
    return past === null
      ? new Problem('not_found', { detail: 'The workspace has no such event' })
      : problemOf({ outcome: 'no_longer_kept', keptSince: past.keptSince, field: null });
  }
}
