import { Controller, Get, Headers, Inject, Param, Req, Res } from '@nestjs/common';
import { ApiOperation, ApiParam, ApiTags } from '@nestjs/swagger';
import type { Request, Response } from 'express';
import { instant, type Clock } from '#event-sourcing/core/clock.js';
import { GivesPersonalData, setAbout } from '#platform/audit/personal-data.js';
import { Public, setIdentified } from '#platform/auth/authentication.js';
import { Produces } from '#platform/http/accept.guard.js';
import { IgnoresParameters } from '#platform/http/known-parameters.interceptor.js';
import { Answers, Refuses } from '#platform/http/openapi/operation.js';
import { helpOf, Problem, type ProblemCode } from '#platform/http/problem.js';
import { sendBody } from '#platform/http/send-json.js';
import { AddressLimiter } from '#platform/rate-limit/rate-limit.guard.js';
import { CLOCK } from '#platform/tokens.js';
import { ArtifactStore } from '../application/artifact.store.js';
import { type DocumentLink, LinkStore, hashOfToken } from '../application/links.js';
import { PublicationQuery } from '../application/publications.js';
import type { DocumentFormat } from '../contracts/index.js';
import { documentContent } from './schemas.js';

/** What a link that gives nothing says to a person: language, title and text. */
const PAGES: Partial<Record<ProblemCode, readonly (readonly [lang: string, title: string, text: string])[]>> =
  {
    link_expired: [
      ['fr', 'Ce lien a expiré', 'Demandez un nouveau lien à la personne qui vous l’a envoyé.'],
      ['en', 'This link has expired', 'Ask the person who sent it to you for another one.'],
    ],
    link_not_found: [
      [
        'fr',
        'Ce lien ne mène à aucun document',
        'Vérifiez qu’il est complet, ou demandez un nouveau lien à la personne qui vous l’a envoyé.',
      ],
      [
        'en',
        'This link leads to no document',
        'Check that it is complete, or ask the person who sent it to you for another one.',
      ],
    ],
    document_not_available: [
      ['fr', 'Le document n’est pas disponible', 'Demandez-le à la personne qui vous a envoyé le lien.'],
      ['en', 'The document is not available', 'Ask the person who sent you the link for it.'],
    ],
  };

const pageOf = (told: NonNullable<(typeof PAGES)[ProblemCode]>): string => `<!doctype html>
<html lang="fr">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>${told.map(([, title]) => title).join(' – ')}</title>
<style>
:root { color-scheme: light dark; font: 1.125rem/1.5 system-ui, sans-serif }
body { max-width: 34rem; margin: 15vh auto 2rem; padding: 0 1.25rem }
h1 { font-size: 1.375rem; margin: 2.5rem 0 0.5rem }
p { margin: 0 }
</style>
</head>
<body><main>${told
  .map(([lang, title, text]) => `<section lang="${lang}"><h1>${title}</h1><p>${text}</p></section>`)
  .join('')}</main></body>
</html>
`;

/** Whether the caller prefers a page, as browsers do. A program that takes anything gets a problem. */
const prefersPage = (request: Request): boolean =>
  request.accepts(['application/problem+json', 'application/json', 'text/html']) === 'text/html';

/**
 * Answers a browser with a page in French and English instead of a problem, with the same status. It loads nothing.
 * @returns whether it did: not for other callers, other problems and other errors
 */
const refuseInWords = (request: Request, response: Response, error: unknown): boolean => {
  const words = error instanceof Problem ? PAGES[error.code] : undefined;
  if (!(error instanceof Problem) || !words || !prefersPage(request)) return false;
  const page = pageOf(words);
  response.status(error.status);
  response.setHeader('Link', helpOf(error));
  response.setHeader('Content-Type', 'text/html; charset=utf-8');
  response.setHeader('Content-Length', Buffer.byteLength(page));
  response.end(page);
  return true;
};

const FILE_NAMES: Readonly<Record<DocumentFormat, string>> = {
  document_v1: 'reading.json',
  markdown: 'reading.md',
  pdf: 'reading.pdf',
};

/** No document runs or loads anything. Chrome's own viewer of PDFs needs the object and its style. */
const POLICY =
  "default-src 'none'; object-src 'self'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/**
 * Gives a document to anyone with a link. The path holds the token, so it appears in no log, span, metric or audit
 * record: those have the pattern of the route.
 */
@Controller('d')
@Public()
@IgnoresParameters()
@ApiTags('Links')
export class OpenLinkController {
  constructor(
    private readonly links: LinkStore,
    private readonly publications: PublicationQuery,
    private readonly artifacts: ArtifactStore,
    private readonly addresses: AddressLimiter,
    @Inject(CLOCK) private readonly clock: Clock,
  ) {}

  @Get(':token')
  @GivesPersonalData()
  @Produces('application/json', 'text/markdown', 'application/pdf', 'text/html')
  @ApiOperation({
    operationId: 'openDocumentLink',
    summary: 'Read a document by its link',
    description:
      'Needs no key. The link decides the format. Caches must not store the answer. A browser gets a page in French and English instead of a problem.',
  })
  @ApiParam({
    name: 'token',
    description: 'The last part of the `url` of a link',
    schema: { type: 'string', examples: ['2sbQyKn4Xv0tM1rWzC7nA3dF6gH9jL0pS5uE2iR8'] },
  })
  @Answers(200, 'The document', documentContent, ['ETag', 'ContentDisposition'])
  @Refuses('link_not_found', 'document_not_available', 'link_expired')
  async open(
    @Param('token') token: string,
    @Headers('if-none-match') ifNoneMatch: string | undefined,
    @Req() request: Request,
    @Res() response: Response,
  ): Promise<void> {
    // Also for refusals: the URL is a secret.
    response.setHeader('Cache-Control', 'no-store');
    response.setHeader('Referrer-Policy', 'no-referrer');
    response.setHeader('X-Robots-Tag', 'noindex, nofollow');
    response.setHeader('Content-Security-Policy', POLICY);
    response.setHeader('Vary', 'Accept');
    try {
      await this.give(token, ifNoneMatch, request, response);
    } catch (error) {
      if (!refuseInWords(request, response, error)) throw error;
    }
  }

  private async give(
    token: string,
    ifNoneMatch: string | undefined,
    request: Request,
    response: Response,
  ): Promise<void> {
    const hash = hashOfToken(token);
    const link = hash === null ? null : await this.links.byToken(hash);
    // An address that tries unknown tokens is limited like one that tries wrong keys.
    if (!link) throw (await this.addresses.refusal(request)) ?? new Problem('link_not_found');
    setIdentified(request, { workspaceId: link.workspaceId, actor: `link:${link.linkId}` });
    setAbout(request, link.readingId);
    const { bytes, mediaType } = await this.read(link);
    if (request.method === 'GET') {
      // A database that takes no writes keeps nobody from reading.
      await this.links.addUse(link.linkId, instant(this.clock.now())).catch(() => undefined);
    }
    response.setHeader('Content-Disposition', `inline; filename="${FILE_NAMES[link.format]}"`);
    sendBody(response, bytes, { mediaType, ifNoneMatch });
  }

  private async read({ readingId, format, version, expiresAt, revokedAt }: DocumentLink) {
    if (revokedAt !== null || Date.parse(expiresAt) <= this.clock.now()) throw new Problem('link_expired');
    const published = await this.publications.find(readingId, version ?? undefined);
    const artifact =
      typeof published === 'number' ? await this.artifacts.get(readingId, published, format) : null;
    if (artifact !== null && artifact !== 'lost') return artifact;
    // Without its key the reading is erased; the row of the link shows it shortly.
    if (artifact === null || (await this.publications.isWithdrawn(readingId)))
      throw new Problem('link_expired');
    throw new Problem('document_not_available', { detail: 'The stored document is lost' });
  }
}
