import { readFileSync } from 'node:fs';
import type { NestExpressApplication } from '@nestjs/platform-express';
import type { Request, Response } from 'express';
import { sendBody, sendJson } from '@app/platform/http/send-json.js';
import { serveDocuments, type StaticDocument } from '@app/platform/http/static-documents.js';
import { projectPath } from '@app/platform/project-path.js';
import { searchIn, type Hit, type Section } from './search.js';
import { MOVED, swaggerAssets } from './swagger-assets.js';

/** What tools/site renders at build. */
interface Site {
  readonly documents: readonly { readonly path: string; readonly mediaType: string; readonly text: string }[];
  /** The page of search results around `<!--results-->`. */
  readonly search: string;
  readonly found: readonly Section[];
}

const HTML = 'text/html; charset=utf-8';
/** Longer queries are cut, as the form does. */
const LONGEST_QUERY = 100;

/** The addresses that a program begins with. */
const INDEX = JSON.stringify({
  name: 'Asynchronous Reading Service',
  version: 'v1',
  documentation: '/docs',
  reference: '/docs/reference',
  openapi: '/openapi.json',
  llms: '/llms.txt',
  changelog: '/changelog',
  status: '/readyz',
});

/** The documentation changes only with a release. */
const CACHE_CONTROL = 'public, max-age=300';

/**
 * Serves the documentation of the API: its OpenAPI document, guides, reference, search and changelog, without
 * credentials. They need no script but for the reference, and nothing from other hosts.
 * @throws Error when the build has not rendered it
 */
export const serveSite = (app: NestExpressApplication): void => {
  const { documents, search, found } = JSON.parse(
    readFileSync(projectPath('dist/site.json'), 'utf8'),
  ) as Site;
  const pages = documents.map(({ path, mediaType, text }): StaticDocument => ({
    path,
    mediaType,
    cacheControl: CACHE_CONTROL,
    bytes: Buffer.from(text),
  }));
  serveDocuments(app, [...pages.filter(({ path }) => path !== '/'), ...swaggerAssets()]);

  const express = app.getHttpAdapter().getInstance();
  const start = pages.find(({ path }) => path === '/')!;
  express.get('/', (request: Request, response: Response) => {
    const ifNoneMatch = request.headers['if-none-match'];
    response.setHeader('Vary', 'Accept');
    if (request.accepts(['application/json', 'text/html']) === 'text/html')
      sendBody(response, start.bytes, { mediaType: HTML, cacheControl: CACHE_CONTROL, ifNoneMatch });
    else sendJson(response, INDEX, ifNoneMatch);
  });

  const find = searchIn(found);
  express.get('/docs/search', (request: Request, response: Response) => {
    const { q } = request.query;
    const query = (typeof q === 'string' ? q : '').slice(0, LONGEST_QUERY).trim();
    const body = search.replace('<!--results-->', () => resultsOf(query, find(query)));
    sendBody(response, body, {
      mediaType: HTML,
      cacheControl: CACHE_CONTROL,
      ifNoneMatch: request.headers['if-none-match'],
    });
  });

  for (const [path, to] of Object.entries(MOVED))
    express.get(path, (_: Request, response: Response) => {
      response.setHeader('Location', to);
      response.status(308).end();
    });
};

const resultsOf = (query: string, hits: readonly Hit[]): string => {
  if (query === '') return '<p>Enter a word in the field above.</p>';
  const items = hits.map(({ section: { path, page, title, lang }, excerpt }) => {
    const shown = excerpt.map((part, at) =>
      at % 2 === 1 && part ? `<mark>${escaped(part)}</mark>` : escaped(part),
    );
    return `<li lang="${lang}"><a href="..${escaped(path)}">${escaped(title)}</a> <span class="page">${escaped(page)}</span><p>${shown.join('')}</p></li>`;
  });
  const count = hits.length === 1 ? '1 result' : `${hits.length} results`;
  return `<p>${count} for “${escaped(query)}”</p>${items.length > 0 ? `<ul class="results">${items.join('')}</ul>` : ''}`;
};

const escaped = (text: string): string => text.replaceAll(/[&<>"']/g, (sign) => `&#${sign.charCodeAt(0)};`);
