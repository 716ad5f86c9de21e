import { Controller, Get, Headers, Param, Query, Res } from '@nestjs/common';
import { QueryBus } from '@nestjs/cqrs';
import { ApiOperation, ApiQuery, ApiTags } from '@nestjs/swagger';
import type { Response } from 'express';
import { GivesPersonalData } from '#platform/audit/personal-data.js';
import { Accepts, Caller, type Principal } from '#platform/auth/authentication.js';
import { seesMode } from '#platform/auth/livemode.js';
import { Answers, Names, Refuses } from '#platform/http/openapi/operation.js';
import { Problem } from '#platform/http/problem.js';
import { Produces } from '#platform/http/accept.guard.js';
import { invalidParameter } from '#platform/http/query-parameters.js';
import { sendBody } from '#platform/http/send-json.js';
import { GetReadingSummary } from '#readings/contracts/index.js';
import { ArtifactStore } from '../../artifacts/artifact.store.js';
import { DOCUMENT_FORMATS, type DocumentFormat } from '../../contracts/events.js';
import { PublicationQuery } from '../../read-models/publication/publication.query.js';
import { NAMED_READING } from '../../http/named-reading.js';
import { PublishedVersion } from '../../http/published-version.js';
import { schemaReference } from '../../http/published-schemas.js';

@Controller('api/v1/readings/:readingId/document')
@Accepts({ apiKey: 'documents:read' })
@ApiTags('Readings')
export class ShowDocumentController {
  constructor(
    private readonly queries: QueryBus,
    private readonly publications: PublicationQuery,
    private readonly artifacts: ArtifactStore,
    private readonly version: PublishedVersion,
  ) {}

  @Get()
  @GivesPersonalData()
  @Produces('application/json', 'text/markdown', 'application/pdf')
  @ApiOperation({
    operationId: 'getReadingDocument',
    summary: 'Get the document of a reading in one format',
    description:
      'Returns the bytes of the document. Bytes of a version never change. While a version of a completed reading is being made, waits up to five seconds before it returns 404.',
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
  @Answers(
    200,
    'The document in the requested format',
    {
      'application/json': { schema: { $ref: schemaReference('document_v1') } },
      'text/markdown; charset=utf-8': { schema: { type: 'string' } },
      'application/pdf': { schema: { type: 'string', format: 'binary' } },
    },
    ['ETag', 'ContentDisposition'],
  )
  @Refuses('invalid_format', 'document_not_available', 'version_not_found', 'reading_erased')
  async get(
    @Param('readingId') readingId: string,
    @Query('format') format: unknown,
    @Query('version') version: unknown,
    @Headers('if-none-match') ifNoneMatch: string | undefined,
    @Caller() caller: Principal,
    @Res() response: Response,
  ): Promise<void> {
    const reading = await this.queries.execute(new GetReadingSummary(readingId));
    if (!reading) throw new Problem('reading_not_found');
    if (reading.workspaceId !== caller.workspaceId) throw new Problem('wrong_workspace');
    if (!seesMode(caller, reading.livemode)) throw new Problem('reading_not_found');
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
