import { createHash } from 'node:crypto';
import type { Response } from 'express';
import type { NestExpressApplication } from '@nestjs/platform-express';

/**
 * Sends JSON with a strong ETag (its SHA-256 unless given), or 304 when the caller has it. Sends text rather than
 * bytes: Node then writes head and body together, which saves a system call.
 */
export const sendJson = (
  response: Response,
  json: string,
  ifNoneMatch: string | undefined,
  sha256?: string,
): void => sendBody(response, json, { mediaType: 'application/json', ifNoneMatch, sha256 });

/**
 * Sends a body with a strong ETag, or 304. By default, caches must not store it; only documents that are the same for
 * everyone may set another `cacheControl`.
 */
export const sendBody = (
  response: Response,
  body: Buffer | string,
  {
    mediaType,
    ifNoneMatch,
    sha256,
    cacheControl = 'no-store',
    fileName,
  }: {
    mediaType: string;
    ifNoneMatch?: string | undefined;
    sha256?: string | undefined;
    cacheControl?: string;
    /** Makes a browser save the answer under this name instead of showing it. */
    fileName?: string | undefined;
  },
): void => {
  const etag = `"${(sha256 ?? createHash('sha256').update(body).digest('hex')).slice(0, 32)}"`;
  // Not Express's `set`, which would add a charset to media types that have none.
  response.setHeader('ETag', etag);
  response.setHeader('Cache-Control', cacheControl);
  if (ifNoneMatch !== undefined && matches(ifNoneMatch, etag)) {
    response.status(304).end();
    return;
  }
  response.setHeader('Content-Type', mediaType);
  if (fileName !== undefined) {
    response.setHeader('Content-Disposition', `attachment; filename="${fileName}"`);
  }
  // Node sets it for a GET alone; HEAD tells the size, too.
  response.setHeader('Content-Length', Buffer.byteLength(body));
  response.end(body);
};

/**
 * Compares weakly (RFC 9110, 13.1.2). A proxy that compresses makes the tag weak, or adds the coding as Apache does.
 * Searched first, to avoid splitting a list of thousands that does not contain it.
 */
const matches = (ifNoneMatch: string, etag: string): boolean =>
  ifNoneMatch.trim() === '*' ||
  (ifNoneMatch.includes(etag.slice(0, -1)) &&
    ifNoneMatch.split(',').some(
      (tag) =>
        tag
          .trim()
          .replace(/^W\//, '')
          .replace(/-(?:gzip|br)"$/, '"') === etag,
    ));

/** Documents that are the same for everyone during the lifetime of the process. */
export interface StaticDocument {
  readonly path: string;
  readonly mediaType: string;
  readonly cacheControl: string;
  readonly bytes: Buffer;
}

/** Serves documents from bytes created once, each with a strong ETag, to GET and HEAD. */
export const serveDocuments = (
  app: Pick<NestExpressApplication, 'getHttpAdapter'>,
  documents: readonly StaticDocument[],
): void => {
  for (const { path, mediaType, cacheControl, bytes } of documents) {
    const sha256 = createHash('sha256').update(bytes).digest('hex');
    app
      .getHttpAdapter()
      .getInstance()
      .get(path, (request, response) => {
        const ifNoneMatch = request.headers['if-none-match'];
        sendBody(response, bytes, { mediaType, cacheControl, sha256, ifNoneMatch });
      });
  }
};
