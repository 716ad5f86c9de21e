import { createHash } from 'node:crypto';
import type { Response } from 'express';

/**
 * Sends bytes as JSON with a strong ETag (their SHA-256 unless given), or 304 when the caller has them. Nothing about
 * a person is kept by caches on the way.
 */
export const sendJson = (
  response: Response,
  bytes: Buffer,
  ifNoneMatch: string | undefined,
  sha256?: string,
): void => sendBytes(response, bytes, { mediaType: 'application/json', ifNoneMatch, sha256 });

export const sendBytes = (
  response: Response,
  bytes: Buffer,
  {
    mediaType,
    ifNoneMatch,
    sha256,
  }: { mediaType: string; ifNoneMatch?: string | undefined; sha256?: string | undefined },
): void => {
  const etag = `"${(sha256 ?? createHash('sha256').update(bytes).digest('hex')).slice(0, 32)}"`;
  response.set({ ETag: etag, 'Cache-Control': 'no-store' });
  const matches = ifNoneMatch
    ?.split(',')
    .some((candidate) => candidate.trim().replace(/^W\//, '') === etag || candidate.trim() === '*');
  if (matches) response.status(304).end();
  else {
    // Not `set`, which would add a charset to media types that have none.
    response.setHeader('Content-Type', mediaType);
    response.end(bytes);
  }
};
