import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { NestExpressApplication } from '@nestjs/platform-express';
import { static as files, type Request, type RequestHandler, type Response } from 'express';
import type { ServeStaticOptions } from 'serve-static';
import { sendJson } from '#platform/http/send-json.js';
import { projectPath } from '#platform/project-path.js';

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

/** The files of addresses outside of `/docs/…`, and of the page that has a folder of the same name. */
const FILES: Readonly<Record<string, string>> = {
  '/docs': '/docs.html',
  '/docs/errors': '/docs/errors.html',
  '/changelog': '/changelog.html',
  '/changelog.md': '/changelog.md',
  '/llms.txt': '/llms.txt',
  '/openapi.json': '/openapi.json',
};

/** The documentation changes only with a release. */
const FIVE_MINUTES_MS = 300_000;

/** Serves what tools/site rendered, without credentials. Only the reference needs a script. @throws Error when it is missing */
export const serveSite = (app: NestExpressApplication): void => {
  const folder = projectPath('dist/site');
  if (!existsSync(folder)) throw new Error(`${folder} is missing: npm run build makes it.`);
  const options: ServeStaticOptions = {
    extensions: ['html'],
    index: false,
    redirect: false,
    maxAge: FIVE_MINUTES_MS,
    setHeaders: (response, path) => {
      // JSON has no charset (RFC 8259, 11).
      if (path.endsWith('.json')) response.setHeader('Content-Type', 'application/json');
    },
  };
  const site = files(folder, options);
  const at =
    (file: string): RequestHandler =>
    (request, response, next) => {
      request.url = file;
      site(request, response, next);
    };

  const express = app.getHttpAdapter().getInstance();
  const start = at('/docs.html');
  express.get('/', (request: Request, response: Response, next) => {
    response.setHeader('Vary', 'Accept');
    if (request.accepts(['application/json', 'text/html']) === 'text/html') start(request, response, next);
    else sendJson(response, INDEX, request.headers['if-none-match']);
  });
  for (const [address, file] of Object.entries(FILES)) express.get(address, at(file));
  express.use('/docs', files(join(folder, 'docs'), options));
};
