import { Controller, Get, Headers, Inject, Param, Query, Res } from '@nestjs/common';
import { QueryBus } from '@nestjs/cqrs';
import { ApiOperation, ApiQuery, ApiTags } from '@nestjs/swagger';
import type { Response } from 'express';
import { setTimeout as delay } from 'node:timers/promises';
import { GivesPersonalData } from '@app/platform/audit/personal-data.js';
import { Accepts, Caller, type Principal } from '@app/platform/auth/authentication.js';
import { seesMode } from '@app/platform/auth/livemode.js';
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
import { schemaReference } from '../../http/published-schemas.js';
import type { Config } from '../../settings.js';

const LOOK_AGAIN_MS = 100;
const POLL_AFTER = { 'Retry-After': '2' };

@Controller('api/v1/readings/:readingId/document')
@Accepts({ apiKey: 'documents:read' })
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
      'Returns the bytes of the document. While a completed reading is being published, waits up to five seconds before it returns 404.',
  })
  @Names('readingId', 'reading_not_found', {
    description: 'The `readingId` from the response to its creation',
    example: '7d0c2b5e-3c57-4f27-9d1c-0a3f6e2b9c41',
  })
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
  @Refuses('invalid_format', 'document_not_available', 'reading_erased')
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
    if (reading.erasedAt !== null) throw new Problem('reading_erased');
    const published = await this.waitForPublication(reading, readVersion(version));
    const artifact = published === null ? null : await this.artifacts.get(readingId, published, wanted);
    if (!artifact) {
      // Published but unreadable: its key was destroyed, and the row shows it shortly.
      if (published !== null || (await this.isErased(readingId))) throw new Problem('reading_erased');
      const detail = `The reading is ${reading.status}${version === undefined ? '' : ', and has no such version'}`;
      const later = reading.status === 'failed' ? {} : { headers: POLL_AFTER };
      throw new Problem('document_not_available', { detail, ...later });
    }
    sendBody(response, artifact.bytes, {
      mediaType: artifact.mediaType,
      ifNoneMatch,
      fileName: wanted === 'pdf' ? `reading-${readingId}.pdf` : undefined,
    });
  }

  private async isErased(readingId: string): Promise<boolean> {
    const reading = await this.queries.execute(new GetReadingSummary(readingId));
    return reading !== null && reading.erasedAt !== null;
  }

  /** A completed reading is published shortly. Holds the request until then, so that callers need not retry. */
  private async waitForPublication(
    reading: ReadingSummary,
    version: number | undefined,
  ): Promise<number | null> {
    const rounds =
      reading.status === 'completed' ? Math.ceil(this.config.DOCUMENT_WAIT_MS / LOOK_AGAIN_MS) : 0;
    for (let round = 0; ; round += 1) {
      const published = await this.publications.published(reading.readingId, version);
      if (published !== null || round >= rounds) return published;
      await delay(LOOK_AGAIN_MS);
    }
  }
}

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
