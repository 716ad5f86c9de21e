import { Controller, Get, Headers, HttpCode, Post, Query, Req, Res, UseGuards } from '@nestjs/common';
import { CommandBus } from '@nestjs/cqrs';
import { ApiBody, ApiOperation, ApiPropertyOptional, ApiQuery, ApiSchema, ApiTags } from '@nestjs/swagger';
import { IsBoolean } from 'class-validator';
import type { Request, Response } from 'express';
import { z } from 'zod';
import type { RequestContext } from '#event-sourcing/core/request-context.js';
import { GivesPersonalData } from '#platform/audit/personal-data.js';
import { Accepts } from '#platform/auth/authentication.js';
import { Produces } from '#platform/http/accept.guard.js';
import { booleanType, IfSent } from '#platform/http/body-rules.js';
import { apiSchema, uuid } from '#platform/http/openapi/api-schema.js';
import { Answers, Names, Refuses } from '#platform/http/openapi/operation.js';
import { OptionalBody } from '#platform/http/optional-body.pipe.js';
import { Problem } from '#platform/http/problem.js';
import { invalidParameter } from '#platform/http/query-parameters.js';
import { RateLimited } from '#platform/rate-limit/rate-limit.guard.js';
import { Requester } from '#platform/http/requester.js';
import { sendBody } from '#platform/http/send-json.js';
import type { ReadingSummary } from '#readings/contracts/index.js';
import { ArtifactStore } from '../application/artifact.store.js';
import { PublicationQuery } from '../application/publications.js';
import { DOCUMENT_FORMATS, type DocumentFormat, RepublishDocument } from '../contracts/index.js';
import {
  NAMED_READING,
  OwnReadingGuard,
  POLL_AFTER,
  PublishedVersion,
  readingOf,
} from './published-version.js';
import { documentContent } from './schemas.js';

const republication = z.object({
  readingId: uuid().describe('Names the reading in every path and event'),
  version: z.int().min(1).describe('The version that is being made; with `unchanged`, the newest one'),
  outcome: z
    .enum(['requested', 'unchanged'])
    .describe('`unchanged`: the newest version has the current texts, and none is made'),
});

type Republication = z.infer<typeof republication>;

const republicationSchema = apiSchema(
  'Republication',
  republication,
  'What becomes of the document of a reading.',
  { readingId: '7d0c2b5e-3c57-4f27-9d1c-0a3f6e2b9c41', version: 2, outcome: 'requested' },
);

/** Body of POST …/document/republish. */
@ApiSchema({ name: 'RepublishDocument' })
export class RepublishDocumentDto {
  @ApiPropertyOptional({
    type: 'boolean',
    default: false,
    description: 'Makes no version when the newest one has the current texts',
    examples: [true],
  })
  @IfSent()
  @IsBoolean(booleanType)
  onlyIfTextsChanged: boolean = false;
}

/** Tokens of the policy `read` that a PDF takes: it is some fifty times as long as the other formats. */
const PDF_COST = 5;

@Controller('api/v1/readings/:readingId/document')
@Accepts({ apiKey: 'documents:read' })
@ApiTags('Readings')
export class ShowDocumentController {
  constructor(
    private readonly publications: PublicationQuery,
    private readonly artifacts: ArtifactStore,
    private readonly version: PublishedVersion,
  ) {}

  @Get()
  @RateLimited('read', ({ query }) => (query['format'] === 'pdf' ? PDF_COST : 1))
  @UseGuards(OwnReadingGuard)
  @GivesPersonalData()
  @Produces('application/json', 'text/markdown', 'application/pdf')
  @ApiOperation({
    operationId: 'getReadingDocument',
    summary: 'Get the document of a reading in one format',
    description:
      'Returns the bytes of the document. Bytes of a version never change. While a version of a completed reading is being made, waits up to five seconds before it returns 404. A PDF counts as 5 requests of the policy `read`.',
  })
  @Names('readingId', 'reading_not_found', NAMED_READING)
  @ApiQuery({
    name: 'format',
    schema: { type: 'string', enum: [...DOCUMENT_FORMATS] },
  })
  @ApiQuery({
    name: 'version',
    required: false,
    schema: { type: 'integer', minimum: 1, maximum: 999_999_999 },
    description: 'Default: the newest version',
  })
  @Answers(200, 'The document in the requested format', documentContent, ['ETag', 'ContentDisposition'])
  @Refuses('invalid_format', 'document_not_available', 'version_not_found', 'reading_erased')
  async get(
    @Req() request: Request,
    @Query('format') format: unknown,
    @Query('version') version: unknown,
    @Headers('if-none-match') ifNoneMatch: string | undefined,
    @Res() response: Response,
  ): Promise<void> {
    const reading = readingOf(request);
    const { readingId } = reading;
    const wanted = readFormat(format);
    const published = await this.version.require(reading, readVersion(version), response);
    const artifact = await this.artifacts.get(readingId, published, wanted);
    // Its key was destroyed, and the row shows it shortly. This process may still know the key.
    if (artifact === null || (artifact === 'lost' && (await this.publications.isWithdrawn(readingId))))
      throw new Problem('reading_erased');
    if (artifact === 'lost') throw new Problem('document_not_available', { detail: LOST });
    sendBody(response, artifact.bytes, {
      mediaType: artifact.mediaType,
      ifNoneMatch,
      fileName: wanted === 'pdf' ? `reading-${readingId}.pdf` : undefined,
    });
  }
}

/** A row of its artifacts was deleted. */
const LOST =
  'The stored document is lost. Publish another version, or ask the operator, who can make it again (ops publications remake)';

const readFormat = (format: unknown): DocumentFormat => {
  const known = DOCUMENT_FORMATS.find((one) => one === format);
  if (known) return known;
  throw invalidParameter('format', `must be one of ${DOCUMENT_FORMATS.join(', ')}`, 'invalid_format');
};

const readVersion = (version: unknown): number | undefined => {
  if (version === undefined) return undefined;
  if (typeof version === 'string' && /^[1-9]\d{0,8}$/.test(version)) return Number(version);
  throw invalidParameter('version', 'must be a whole number from 1');
};

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
