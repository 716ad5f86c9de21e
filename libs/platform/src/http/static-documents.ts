import { createHash } from 'node:crypto';
import type { NestExpressApplication } from '@nestjs/platform-express';
import { sendBody } from './send-json.js';

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
