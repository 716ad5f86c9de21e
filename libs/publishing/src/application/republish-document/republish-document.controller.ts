import { Controller, HttpCode, Post, Req, Res, UseGuards } from '@nestjs/common';
import { CommandBus } from '@nestjs/cqrs';
import { ApiBody, ApiOperation, ApiTags } from '@nestjs/swagger';
import type { Request, Response } from 'express';
import type { RequestContext } from '#event-sourcing/core/request-context.js';
import { Accepts } from '#platform/auth/authentication.js';
import { Answers, Names, Refuses } from '#platform/http/openapi/operation.js';
import { OptionalBody } from '#platform/http/optional-body.pipe.js';
import { Problem } from '#platform/http/problem.js';
import { Requester } from '#platform/http/requester.js';
import type { ReadingSummary } from '#readings/contracts/index.js';
import { RepublishDocument } from '../../contracts/commands.js';
import { NAMED_READING, POLL_AFTER } from '../../http/named-reading.js';
import { OwnReadingGuard, readingOf } from '../../http/own-reading.guard.js';
import { republicationSchema, type Republication } from '../../http/republication.schemas.js';
import { RepublishDocumentDto } from './republish-document.body.js';

/** Makes another version of a published document. */
@Controller('api/v1/readings/:readingId/document/republish')
@Accepts({ apiKey: 'readings:write' })
@ApiTags('Readings')
@Names('readingId', 'reading_not_found', NAMED_READING)
export class RepublishDocumentController {
  constructor(private readonly commands: CommandBus) {}

  @Post()
  @HttpCode(202)
  @UseGuards(OwnReadingGuard)
  @ApiOperation({
    operationId: 'republishDocument',
    summary: 'Publish another version of a document',
    description:
      'Makes the next version from the stored result and the current texts, in all formats. It costs no credits. Earlier versions stay readable, and `reading.published` announces the new one. Of several requests at once, one makes a version.',
  })
  @ApiBody({ type: RepublishDocumentDto, required: false })
  @Answers(202, 'The version is being made, unless it is not needed', republicationSchema, [
    'Location',
    'RetryAfter',
  ])
  @Refuses('reading_not_completed', 'reading_failed', 'version_limit_reached', {
    code: 'reading_erased',
    status: 409,
  })
  async republish(
    @Req() request: Request,
    @OptionalBody() { onlyIfTextsChanged }: RepublishDocumentDto,
    @Requester() by: RequestContext,
    @Res({ passthrough: true }) response: Response,
  ): Promise<Republication> {
    const reading = readingOf(request);
    requireCompleted(reading);
    const { readingId, workspaceId } = reading;
    const answer = await this.commands.execute(
      new RepublishDocument(readingId, workspaceId, { onlyIfTextsChanged }, by),
    );
    if (answer.outcome === 'erased') throw new Problem('reading_erased', { status: 409 });
    if (answer.outcome === 'too_many_versions')
      throw new Problem('version_limit_reached', {
        detail: `A document has at most ${answer.most} versions`,
      });
    response.set('Location', `/api/v1/readings/${readingId}`);
    const { version, outcome } = answer;
    if (outcome === 'unchanged') return { readingId, version, outcome };
    response.set('Retry-After', POLL_AFTER);
    return { readingId, version, outcome: 'requested' };
  }
}

const requireCompleted = ({ status, erasedAt }: ReadingSummary): void => {
  if (erasedAt !== null) throw new Problem('reading_erased', { status: 409 });
  if (status === 'failed')
    throw new Problem('reading_failed', { detail: 'A failed reading has no document' });
  if (status !== 'completed')
    throw new Problem('reading_not_completed', { headers: { 'Retry-After': POLL_AFTER } });
};
