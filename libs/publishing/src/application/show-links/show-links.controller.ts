import { Controller, Get, Inject, Query, Req, UseGuards } from '@nestjs/common';
import { ApiOperation, ApiTags } from '@nestjs/swagger';
import type { Request } from 'express';
import type { Clock } from '#event-sourcing/core/clock.js';
import { Accepts } from '#platform/auth/authentication.js';
import { Answers, Names } from '#platform/http/openapi/operation.js';
import { PageCursors } from '#platform/http/page-cursor.js';
import { CLOCK } from '#platform/tokens.js';
import { linkPageSchema, linkView } from '../../http/link.schemas.js';
import { NAMED_READING } from '../../http/named-reading.js';
import { OwnReadingGuard, readingOf } from '../../http/own-reading.guard.js';
import { LinkStore } from '../../links/link.store.js';
import { LinkUse } from '../../links/link-use.js';

/** Shows the links to a document to its workspace, without their tokens. */
@Controller('api/v1/readings/:readingId/document/links')
@Accepts({ apiKey: 'documents:read' })
@ApiTags('Readings')
@Names('readingId', 'reading_not_found', NAMED_READING)
export class ShowLinksController {
  constructor(
    private readonly links: LinkStore,
    private readonly use: LinkUse,
    private readonly cursors: PageCursors,
    @Inject(CLOCK) private readonly clock: Clock,
  ) {}

  @Get()
  @UseGuards(OwnReadingGuard)
  @ApiOperation({
    operationId: 'listDocumentLinks',
    summary: 'List the links to a document',
    description: 'Returns the newest first, without their URLs. Ended links stay listed for 30 days.',
  })
  @Answers(200, 'A page of links', linkPageSchema)
  async list(
    @Query('limit') limit: string | undefined,
    @Query('cursor') cursor: string | undefined,
    @Req() request: Request,
  ) {
    const { readingId, workspaceId } = readingOf(request);
    const scope = ['links', workspaceId, readingId] as const;
    const page = this.cursors.read(limit, cursor, ...scope);
    const links = await this.links.page(readingId, page.limit + 1, page.after);
    const { data, nextCursor } = this.cursors.page(
      links,
      page.limit,
      ({ createdAt, linkId }) => [createdAt, linkId],
      ...scope,
    );
    const now = this.clock.now();
    return { data: data.map((link) => linkView(this.use.withWaiting(link), now)), nextCursor };
  }
}
