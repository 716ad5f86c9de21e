import { Controller, Get, Headers, Inject, Param, Query, Res } from '@nestjs/common';
import { QueryBus } from '@nestjs/cqrs';
import { ApiOperation, ApiQuery, ApiTags } from '@nestjs/swagger';
import type { Response } from 'express';
import { setTimeout as delay } from 'node:timers/promises';
import { GivesPersonalData } from '@app/platform/audit/personal-data.js';
import { Accepts, Caller, type Principal } from '@app/platform/auth/authentication.js';
import { Answers, Names, Refuses } from '@app/platform/http/openapi/operation.js';
import { Problem } from '@app/platform/http/problem.js';
import { Produces } from '@app/platform/http/accept.guard.js';
import { invalidParameter } from '@app/platform/http/query-parameters.js';
import { sendBody } from '@app/platform/http/send-json.js';
import { CONFIG } from '@app/platform/tokens.js';
import { GetReadingSummary, type ReadingSummary } from '@app/readings/contracts/index.js';
import { ArtifactStore } from '../../artifacts/artifact.store.js';
import { DOCUMENT_FORMATS, type DocumentFormat } from '../../contracts/events.js';
import { PublicationQuery } from '../../read-models/publication/publication.query.js';
import { NAMED_READING, POLL_AFTER } from '../../http/named-reading.js';
import { schemaReference } from '../../http/published-schemas.js';
import type { Config } from '../../settings.js';

const LOOK_AGAIN_MS = 100;

@Controller('api/v1/readings/:readingId/document')
@Accepts('apiKey')
@ApiTags('Readings')
export class ShowDocumentController {
  constructor(
    private readonly queries: QueryBus,
    private readonly publications: PublicationQuery,
    private readonly artifacts: ArtifactStore,
    @Inject(CONFIG) private readonly config: Pick<Config, 'DOCUMENT_WAIT_MS'>,
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
    const wanted = readFormat(format);
    if (reading.erasedAt !== null) throw new Problem('reading_erased');
    const published = await this.waitForPublication(reading, readVersion(version));
    if (published === 'unknown') throw new Problem('version_not_found');
    if (published === 'due') throw await this.notAvailable(reading);
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

  private async notAvailable({ readingId, status }: ReadingSummary): Promise<Problem> {
    const now = await this.queries.execute(new GetReadingSummary(readingId));
    if (now !== null && now.erasedAt !== null) return new Problem('reading_erased');
    const detail = `The reading is ${status}`;
    if (status === 'failed') return new Problem('document_not_available', { detail });
    return new Problem('document_not_available', { detail, headers: { 'Retry-After': POLL_AFTER } });
  }

  /** A completed reading is published shortly. Holds the request until then, so that callers need not retry. */
  private async waitForPublication(
    reading: ReadingSummary,
    version: number | undefined,
  ): Promise<number | 'due' | 'unknown'> {
    const rounds =
      reading.status === 'completed' ? Math.ceil(this.config.DOCUMENT_WAIT_MS / LOOK_AGAIN_MS) : 0;
    for (let round = 0; ; round += 1) {
      const published = await this.publications.find(reading.readingId, version);
      if (published !== 'due' || round >= rounds) return published;
      await delay(LOOK_AGAIN_MS);
    }
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
