import { Controller, Get, Headers, Query, Res } from '@nestjs/common';
import { ApiOperation, ApiQuery, ApiTags } from '@nestjs/swagger';
import { QueryBus } from '@nestjs/cqrs';
import type { Response } from 'express';
import { Accepts, Caller, type Principal } from '@app/platform/auth/authentication.js';
import { Answers, Refuses } from '@app/platform/http/openapi/operation.js';
import { sendJson } from '@app/platform/http/send-json.js';
import { PUBLIC_EVENT_TYPES } from '../../contracts/event-types.js';
import { wholeBody } from '../whole-bodies.js';
import { EventFeed } from '../../read-models/event-feed/event-feed.js';
import { PageCursors } from '@app/platform/http/page-cursor.js';
import { eventPageSchema } from '../../http/public-event.schema.js';
import { LIVEMODE_SHOWN, readChoice, readModes, type QueryValue } from '../../http/query-parameters.js';

/** The position before the first event, for the cursor of an empty feed. */
const BEFORE_THE_FIRST = '-1';

/** The feed of the events that webhooks push. */
@Controller('api/v1/events')
@Accepts({ apiKey: 'events:read', bearer: 'events:read' })
@ApiTags('Events')
export class PullEventsController {
  constructor(
    private readonly feed: EventFeed,
    private readonly cursors: PageCursors,
    private readonly queries: QueryBus,
  ) {}

  @Get()
  @ApiOperation({
    operationId: 'listEvents',
    summary: 'Pull the events of the workspace',
    description:
      'Returns the oldest events first, with the same ids, bytes and order as webhooks. `nextCursor` is never null: store it and send it as `cursor` later, so that you miss no event.',
  })
  @ApiQuery({
    name: 'type',
    required: false,
    description: 'Comma-separated; default: all. A cursor is valid only with the same types',
    schema: { type: 'array', items: { type: 'string', enum: [...PUBLIC_EVENT_TYPES] } },
    explode: false,
  })
  @ApiQuery(LIVEMODE_SHOWN)
  @Answers(200, 'A page of events', eventPageSchema, ['ETag'])
  @Refuses('unsupported_event_type')
  async list(
    @Query('limit') limit: string | undefined,
    @Query('cursor') cursor: string | undefined,
    @Query('type') type: QueryValue,
    @Query('livemode') livemode: QueryValue,
    @Headers('if-none-match') ifNoneMatch: string | undefined,
    @Caller() caller: Principal,
    @Res() response: Response,
  ): Promise<void> {
    const types = readChoice('type', type, PUBLIC_EVENT_TYPES, 'unsupported_event_type');
    const { workspaceId } = caller;
    const modes = readModes(livemode, caller);
    const scope = ['events', workspaceId, ...modes, ...(types ?? [])];
    const { limit: count, after } = this.cursors.read(limit, cursor, ...scope);
    const events = await this.feed.page(workspaceId, count + 1, after?.[0] ?? null, types, modes);
    const page = events.slice(0, count);
    const end = page.at(-1)?.position ?? after?.[0] ?? BEFORE_THE_FIRST;
    const bodies = await Promise.all(page.map((event) => wholeBody(event, this.queries)));
    const rest = JSON.stringify({
      nextCursor: this.cursors.seal([end], ...scope),
      hasMore: events.length > count,
    });
    sendJson(response, `{"data":[${bodies.join()}],${rest.slice(1)}`, ifNoneMatch);
  }
}
