import { Body, Controller, HttpCode, Inject, Post, Req, Res, UseGuards } from '@nestjs/common';
import { ApiOperation, ApiTags } from '@nestjs/swagger';
import type { Request, Response } from 'express';
import { instant, type Clock } from '#event-sourcing/core/clock.js';
import { Accepts, API_KEY_CHALLENGE, principalOf } from '#platform/auth/authentication.js';
import { drawBytes, drawUuid } from '#platform/crypto/draw.js';
import { Answers, Names, Refuses } from '#platform/http/openapi/operation.js';
import { Problem } from '#platform/http/problem.js';
import { seedOf } from '#platform/http/request-seed.js';
import { ShownOnce } from '#platform/idempotency/idempotency.interceptor.js';
import { CLOCK, CONFIG } from '#platform/tokens.js';
import { SECRET_BYTES, makeToken } from '../../domain/link/link-token.js';
import { createdLinkSchema, type CreatedLink } from '../../http/link.schemas.js';
import { NAMED_READING } from '../../http/named-reading.js';
import { OwnReadingGuard, readingOf } from '../../http/own-reading.guard.js';
import { PublishedVersion } from '../../http/published-version.js';
import { LinkStore } from '../../links/link.store.js';
import type { Config } from '../../settings.js';
import { CreateLinkDto } from './create-link.body.js';

/** Live links that the document of a reading may have. */
const MOST_LINKS = 100;

/** Makes links to a document, for people without a key. */
@Controller('api/v1/readings/:readingId/document/links')
@Accepts({ apiKey: 'documents:read' })
@ApiTags('Readings')
@Names('readingId', 'reading_not_found', NAMED_READING)
export class CreateLinkController {
  constructor(
    private readonly version: PublishedVersion,
    private readonly links: LinkStore,
    @Inject(CLOCK) private readonly clock: Clock,
    @Inject(CONFIG) private readonly config: Pick<Config, 'HOST' | 'PUBLIC_URL'>,
  ) {}

  @Post()
  @HttpCode(201)
  @UseGuards(OwnReadingGuard)
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
      expiresAt: instant(now + expiresInSeconds * 1_000),
    };
    const { readingId, workspaceId } = reading;
    const { actor: createdBy } = principalOf(request);
    const added = await this.links.add(
      { ...link, readingId, workspaceId, createdAt: instant(now), createdBy, tokenHash: hash },
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
