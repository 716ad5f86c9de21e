import { Controller, Delete, HttpCode, Inject, Param, Req, UseGuards } from '@nestjs/common';
import { ApiOperation, ApiParam, ApiTags } from '@nestjs/swagger';
import type { Request } from 'express';
import { instant, type Clock } from '#event-sourcing/core/clock.js';
import { Accepts } from '#platform/auth/authentication.js';
import { Answers, Names, Refuses } from '#platform/http/openapi/operation.js';
import { Problem } from '#platform/http/problem.js';
import { CLOCK } from '#platform/tokens.js';
import { isUuid } from '#platform/text/uuid.js';
import { NAMED_LINK } from '../../http/link.schemas.js';
import { NAMED_READING } from '../../http/named-reading.js';
import { OwnReadingGuard, readingOf } from '../../http/own-reading.guard.js';
import { LinkStore } from '../../links/link.store.js';

/** Ends a link before its time. */
@Controller('api/v1/readings/:readingId/document/links/:linkId')
@Accepts({ apiKey: 'documents:read' })
@ApiTags('Readings')
@Names('readingId', 'reading_not_found', NAMED_READING)
export class RevokeLinkController {
  constructor(
    private readonly links: LinkStore,
    @Inject(CLOCK) private readonly clock: Clock,
  ) {}

  @Delete()
  @HttpCode(204)
  @UseGuards(OwnReadingGuard)
  @ApiOperation({
    operationId: 'revokeDocumentLink',
    summary: 'Revoke a link to a document',
    description: 'From then on its URL is answered 410. Repeating it changes nothing.',
  })
  @ApiParam({
    name: 'linkId',
    description: NAMED_LINK.description,
    schema: { type: 'string', examples: [NAMED_LINK.example] },
  })
  @Answers(204, 'The link is revoked')
  @Refuses('link_not_found')
  async revoke(@Req() request: Request, @Param('linkId') linkId: string): Promise<void> {
    const { readingId } = readingOf(request);
    const isKnown = isUuid(linkId) && (await this.links.revoke(readingId, linkId, instant(this.clock.now())));
    if (!isKnown) throw new Problem('link_not_found');
  }
}
