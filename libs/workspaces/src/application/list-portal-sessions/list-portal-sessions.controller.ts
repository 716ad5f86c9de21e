import { Controller, Get, Query } from '@nestjs/common';
import { QueryBus } from '@nestjs/cqrs';
import { ApiOperation, ApiTags } from '@nestjs/swagger';
import { Accepts, Caller, type Principal } from '#platform/auth/authentication.js';
import { Answers } from '#platform/http/openapi/operation.js';
import { PageCursors } from '#platform/http/page-cursor.js';
import { ListPortalSessions } from '../../contracts/portal.js';
import { sessionPageSchema } from '../../http/portal-session.schemas.js';

/** Shows who was let into the portal. */
@Controller('api/v1/portal/sessions')
@Accepts({ apiKey: 'portal:write' })
@ApiTags('Portal')
export class ListPortalSessionsController {
  constructor(
    private readonly queries: QueryBus,
    private readonly cursors: PageCursors,
  ) {}

  @Get()
  @ApiOperation({
    operationId: 'listPortalSessions',
    summary: 'List the sessions of the workspace portal',
    description:
      'Returns the newest first, without secrets: those of the mode of the caller’s key, and those of an operator, which have both modes. Ended sessions stay listed for 30 days.',
  })
  @Answers(200, 'A page of sessions', sessionPageSchema)
  async list(
    @Query('limit') limit: string | undefined,
    @Query('cursor') cursor: string | undefined,
    @Caller() { workspaceId, sees }: Principal,
  ) {
    const scope = ['portal-sessions', workspaceId, ...sees] as const;
    const page = this.cursors.read(limit, cursor, ...scope);
    const rows = await this.queries.execute(
      new ListPortalSessions(workspaceId, sees, page.limit + 1, page.after),
    );
    return this.cursors.page(
      rows,
      page.limit,
      ({ createdAt, sessionId }) => [createdAt, sessionId],
      ...scope,
    );
  }
}
