import { Controller, Get, Headers, Param, Query, Req, Res } from '@nestjs/common';
import { QueryBus } from '@nestjs/cqrs';
import { ApiOperation, ApiQuery, ApiTags } from '@nestjs/swagger';
import type { Request, Response } from 'express';
import { GivesPersonalData, setAbout } from '#platform/audit/personal-data.js';
import { Accepts, Caller, type Principal } from '#platform/auth/authentication.js';
import { Answers, Refuses } from '#platform/http/openapi/operation.js';
import { PageCursors, tokensOfPage } from '#platform/http/page-cursor.js';
import { Problem } from '#platform/http/problem.js';
import { invalidParameter } from '#platform/http/query-parameters.js';
import { sendJson } from '#platform/http/send-json.js';
import { RateLimited } from '#platform/rate-limit/rate-limit.guard.js';
import { NOTICE_TYPES, PUBLIC_EVENT_TYPES, isNotice } from '../contracts/events.js';
import { eventOrNoticeSchema, eventPageSchema } from '../http/event.schemas.js';
import {
  ChoiceQuery,
  LIVEMODE_SHOWN,
  readChoice,
  readModes,
  type QueryValue,
} from '../http/query-parameters.js';
import { NamesEvent, problemOf } from '../http/routes.js';
import { DeletedPast, EventFeed, wholeBody } from '../read-models/event-feed.js';

/** The position before the first event, for the cursor of an empty feed. */
const BEFORE_THE_FIRST = '-1';
const TYPES = [...PUBLIC_EVENT_TYPES, ...NOTICE_TYPES];

@Controller('api/v1/events')
@Accepts({ apiKey: 'events:read', bearer: 'events:read' })
@ApiTags('Events')
export class EventsController {
  constructor(
    private readonly feed: EventFeed,
    private readonly deleted: DeletedPast,
    private readonly cursors: PageCursors,
    private readonly queries: QueryBus,
  ) {}

  @Get()
  @RateLimited('read', tokensOfPage)
  @GivesPersonalData()
  @ApiOperation({
    operationId: 'listEvents',
    summary: 'Pull the events of the workspace',
    description:
      'Returns the oldest events first, with the same ids, bytes and order as webhooks; or the notices of the workspace, whether an endpoint asked for them or not. `nextCursor` is never null: store it and send it as `cursor` later, so that you miss no event. A cursor that is so old that events after it are deleted is 410. A page counts as one request of the policy `read` for each 20 events that it may have.',
  })
  @ChoiceQuery(
    'type',
    TYPES,
    'Comma-separated types of events, or of notices; default: all types of events. A cursor is valid only with the same types',
  )
  @ApiQuery(LIVEMODE_SHOWN)
  @Answers(200, 'A page of events', eventPageSchema, ['ETag'])
  @Refuses('unsupported_event_type', 'no_longer_kept')
  async list(
    @Query('limit') limit: string | undefined,
    @Query('cursor') cursor: string | undefined,
    @Query('type') type: QueryValue,
    @Query('livemode') livemode: QueryValue,
    @Headers('if-none-match') ifNoneMatch: string | undefined,
    @Caller() caller: Principal,
    @Res() response: Response,
  ): Promise<void> {
    const chosen = readChoice('type', type, TYPES, 'unsupported_event_type');
    const types = chosen ?? PUBLIC_EVENT_TYPES;
    const { workspaceId } = caller;
    const modes = readModes(livemode, caller);
    const scope = ['events', workspaceId, ...modes, ...(chosen ?? [])];
    const { limit: count, after } = this.cursors.read(limit, cursor, ...scope);
    const start = after?.[0] ?? null;
    if (types.some(isNotice) && !types.every(isNotice))
      throw invalidParameter(
        'type',
        'must name types of events, or of notices: each has an order of its own',
      );
    const found = await this.feed.page(workspaceId, count + 1, start, types, modes);
    const shown = found.slice(0, count);
    const bodies = await Promise.all(shown.map((event) => wholeBody(event, this.queries)));
    // After the page was read, so that nothing can be deleted in between unnoticed.
    const past = await this.deleted.ofFeed(workspaceId, types, modes);
    if (start !== null && past !== null && BigInt(past.position) > BigInt(start))
      throw problemOf({ outcome: 'no_longer_kept', keptSince: past.keptSince, field: '?cursor' });
    const end = shown.at(-1)?.position ?? start ?? past?.position ?? BEFORE_THE_FIRST;
    const rest = JSON.stringify({
      nextCursor: this.cursors.seal([end], ...scope),
      hasMore: found.length > count,
    });
    sendJson(response, `{"data":[${bodies.join()}],${rest.slice(1)}`, ifNoneMatch);
  }

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
