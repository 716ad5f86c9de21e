import {
  Body,
  Controller,
  Delete,
  Get,
  HttpCode,
  Inject,
  Param,
  Post,
  Query,
  Req,
  Res,
  UseGuards,
} from '@nestjs/common';
import {
  ApiOperation,
  ApiParam,
  ApiProperty,
  ApiPropertyOptional,
  ApiSchema,
  ApiTags,
} from '@nestjs/swagger';
import { IsDefined, IsIn, IsInt, Max, Min } from 'class-validator';
import type { Request, Response } from 'express';
import { z } from 'zod';
import { type Clock, instant as instantOf } from '#event-sourcing/core/clock.js';
import { Accepts, API_KEY_CHALLENGE, principalOf } from '#platform/auth/authentication.js';
import { drawBytes, drawUuid } from '#platform/crypto/draw.js';
import { IfSent, required } from '#platform/http/body-rules.js';
import { apiPage, apiSchema, count, instant, uuid } from '#platform/http/openapi/api-schema.js';
import { Answers, Names, Refuses } from '#platform/http/openapi/operation.js';
import { PageCursors } from '#platform/http/page-cursor.js';
import { Problem } from '#platform/http/problem.js';
import { seedOf } from '#platform/http/request-seed.js';
import { ShownOnce } from '#platform/idempotency/idempotency.interceptor.js';
import { isUuid } from '#platform/text/uuid.js';
import { CLOCK, CONFIG } from '#platform/tokens.js';
import { type DocumentLink, LinkStore, makeToken, SECRET_BYTES } from '../application/links.js';
import { DOCUMENT_FORMATS, type DocumentFormat } from '../contracts/index.js';
import type { Config } from '../settings.js';
import { NAMED_READING, OwnReadingGuard, PublishedVersion, readingOf } from './published-version.js';

const EXAMPLE_ID = '0f6a6b0e-7c55-4a3e-9a0d-5b1d0c8f3e27';

const LINK_STATUSES = ['live', 'expired', 'revoked'] as const;

/** A link as its workspace sees it, without the token. */
type LinkView = Omit<DocumentLink, 'readingId' | 'workspaceId'> & {
  readonly status: (typeof LINK_STATUSES)[number];
};

/** @param now milliseconds since the epoch */
const linkView = ({ readingId: _, workspaceId: __, ...link }: DocumentLink, now: number): LinkView => ({
  ...link,
  status: link.revokedAt !== null ? 'revoked' : Date.parse(link.expiresAt) <= now ? 'expired' : 'live',
});

const facts = {
  linkId: uuid().describe('Names the link; not a secret'),
  format: z.enum(DOCUMENT_FORMATS).describe('The format that it gives'),
  version: z.int().min(1).nullable().describe('The version that it gives; null: the newest when it is read'),
  expiresAt: instant().describe('Since when it is answered 410'),
};

const example = {
  linkId: EXAMPLE_ID,
  format: 'pdf',
  version: null,
  expiresAt: '2026-04-04T10:30:00.000Z',
} as const;

type CreatedLink = Pick<DocumentLink, 'linkId' | 'format' | 'version' | 'expiresAt'> & {
  readonly url: string;
};

const createdLinkSchema = apiSchema<Omit<CreatedLink, 'url'> & { readonly url?: string | undefined }>(
  'CreatedDocumentLink',
  z.object({
    ...facts,
    url: z
      .string()
      .meta({ format: 'uri' })
      .optional()
      .describe(
        'Gives the document to anyone with it. Shown this once; an answer repeated for an `Idempotency-Key` is without it',
      ),
  }),
  'A link that was just created.',
  { ...example, url: 'https://readings.example.com/d/2sbQyKn4Xv0tM1rWzC7nA3dF6gH9jL0pS5uE2iR8' },
);

const linkExample: LinkView = {
  ...example,
  status: 'live',
  createdAt: '2026-04-04T09:30:00.000Z',
  revokedAt: null,
  uses: 3,
  lastUsedAt: '2026-04-04T09:41:07.000Z',
};

const linkSchema = apiSchema<LinkView>(
  'DocumentLink',
  z.object({
    ...facts,
    status: z.enum(LINK_STATUSES).describe('Only `live` links give the document'),
    createdAt: instant().describe('When it was created'),
    revokedAt: instant().nullable().describe('When somebody revoked it, or the reading was erased'),
    uses: count().describe('How often it gave the document; uses of the last seconds may be missing'),
    lastUsedAt: instant().nullable().describe('When it last gave the document'),
  }),
  'A link to a document, without its token.',
  linkExample,
);

const linkPageSchema = apiPage(
  'DocumentLinkPage',
  linkSchema,
  'Links to the document of a reading, newest first, ended ones included.',
  linkExample,
);

const SHORTEST_SECONDS = 60;
const LONGEST_SECONDS = 2_592_000;
const HOUR_SECONDS = 3_600;
const LARGEST_VERSION = 999_999_999;

const format = {
  message: `must be one of ${DOCUMENT_FORMATS.join(', ')}`,
  context: { code: 'invalid_format' },
};
const lifetime = {
  message: `must be a whole number of seconds from ${SHORTEST_SECONDS} to ${LONGEST_SECONDS}`,
  context: { code: 'invalid_value' },
};
const wholeVersion = { message: 'must be a whole number from 1', context: { code: 'invalid_value' } };

/** Body of POST …/document/links. */
@ApiSchema({ name: 'CreateDocumentLink' })
export class CreateLinkDto {
  @ApiProperty({
    enum: [...DOCUMENT_FORMATS],
    enumName: 'DocumentFormat',
    description: 'The format that the link gives',
    examples: ['pdf'],
  })
  @IsDefined({ ...required, context: { code: 'invalid_format' } })
  @IsIn(DOCUMENT_FORMATS, format)
  format!: DocumentFormat;

  @ApiPropertyOptional({
    type: 'integer',
    minimum: 1,
    maximum: LARGEST_VERSION,
    description: 'The version that the link gives. Default: the newest when it is read',
    examples: [1],
  })
  @IfSent()
  @IsInt(wholeVersion)
  @Min(1, wholeVersion)
  @Max(LARGEST_VERSION, wholeVersion)
  version?: number;

  @ApiPropertyOptional({
    type: 'integer',
    minimum: SHORTEST_SECONDS,
    maximum: LONGEST_SECONDS,
    default: HOUR_SECONDS,
    description: 'How long the link works, in seconds',
    examples: [86_400],
  })
  @IfSent()
  @IsInt(lifetime)
  @Min(SHORTEST_SECONDS, lifetime)
  @Max(LONGEST_SECONDS, lifetime)
  expiresInSeconds: number = HOUR_SECONDS;
}

/** Live links that the document of a reading may have. */
const MOST_LINKS = 100;

/** Links to a document for people without a key: made, listed without their tokens, and ended before their time. */
@Controller('api/v1/readings/:readingId/document/links')
@Accepts({ apiKey: 'documents:read' })
@UseGuards(OwnReadingGuard)
@ApiTags('Readings')
@Names('readingId', 'reading_not_found', NAMED_READING)
export class LinksController {
  constructor(
    private readonly version: PublishedVersion,
    private readonly links: LinkStore,
    private readonly cursors: PageCursors,
    @Inject(CLOCK) private readonly clock: Clock,
    @Inject(CONFIG) private readonly config: Pick<Config, 'HOST' | 'PUBLIC_URL'>,
  ) {}

  @Post()
  @HttpCode(201)
  @ShownOnce('url')
  @ApiOperation({
    operationId: 'createDocumentLink',
    summary: 'Create a link to a document',
    description:
      'Anyone with the URL reads the document, without a key, until the link expires. Only this answer shows it. Erasure ends the link.',
  })
  @Answers(201, 'The link', createdLinkSchema)
  @Refuses(
    'invalid_format',
    'document_not_available',
    'version_not_found',
    'link_limit_reached',
    'reading_erased',
  )
  async create(
    @Req() request: Request,
    @Body() body: CreateLinkDto,
    @Res({ passthrough: true }) response: Response,
  ): Promise<CreatedLink> {
    const reading = readingOf(request);
    const { format, version, expiresInSeconds } = body;
    await this.version.require(reading, version, response);
    // A repeat of a request of unknown outcome draws the same, and shows the link that the first attempt made.
    const by = { seed: seedOf(request) };
    const { token, hash } = makeToken(drawBytes(by, 'token of a document link', SECRET_BYTES));
    const now = this.clock.now();
    const link = {
      linkId: drawUuid(by, 'id of a document link'),
      format,
      version: version ?? null,
      expiresAt: instantOf(now + expiresInSeconds * 1_000),
    };
    const { readingId, workspaceId } = reading;
    const { actor: createdBy } = principalOf(request);
    const added = await this.links.add(
      { ...link, readingId, workspaceId, createdAt: instantOf(now), createdBy, tokenHash: hash },
      MOST_LINKS,
    );
    if (added === 'key_ended')
      throw new Problem('unauthenticated', { headers: { 'WWW-Authenticate': API_KEY_CHALLENGE } });
    if (added === 'erased') throw new Problem('reading_erased');
    if (added === 'too_many')
      throw new Problem('link_limit_reached', { detail: `A document has at most ${MOST_LINKS} live links` });
    const { expiresAt } = added;
    return { ...link, expiresAt, url: `${this.baseUrl(request)}/d/${token}` };
  }

  @Get()
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
    return { data: data.map((link) => linkView(link, now)), nextCursor };
  }

  @Delete(':linkId')
  @HttpCode(204)
  @ApiOperation({
    operationId: 'revokeDocumentLink',
    summary: 'Revoke a link to a document',
    description: 'From then on its URL is answered 410. Repeating it changes nothing.',
  })
  @ApiParam({
    name: 'linkId',
    description: 'The `linkId` of the link: not a secret',
    schema: { type: 'string', examples: [EXAMPLE_ID] },
  })
  @Answers(204, 'The link is revoked')
  @Refuses('link_not_found')
  async revoke(@Req() request: Request, @Param('linkId') linkId: string): Promise<void> {
    const { readingId } = readingOf(request);
    const isKnown =
      isUuid(linkId) && (await this.links.revoke(readingId, linkId, instantOf(this.clock.now())));
    if (!isKnown) throw new Problem('link_not_found');
  }

  private baseUrl({ socket }: Request): string {
    const { PUBLIC_URL, HOST } = this.config;
    return PUBLIC_URL ?? `http://${reachable(HOST)}:${socket.localPort}`;
  }
}

/** The host of a URL on this machine for an address that a server listens on. */
const reachable = (host: string): string => {
  if (host === '0.0.0.0' || host === '::') return '127.0.0.1';
  return host.includes(':') ? `[${host}]` : host;
};
