import {
  Injectable,
  SetMetadata,
  type CallHandler,
  type ExecutionContext,
  type NestInterceptor,
} from '@nestjs/common';
import type { NextFunction, Request, Response } from 'express';
import type { Observable } from 'rxjs';
import { Problem } from './problem.js';
import { refusalOfBody } from './raw-bodies.js';
import { parseStrictJson } from './strict-json.js';

const LINES = 'http:lines';
/** One JSON value on each line (https://github.com/ndjson/ndjson-spec). */
export const NDJSON = 'application/x-ndjson';

/** The route also takes newline-delimited JSON. It parses its body itself: in both media types, it gets the raw bytes. */
export const TakesLines = () => SetMetadata(LINES, true);

const takesLines = (handler: object): boolean => Reflect.getMetadata(LINES, handler) === true;

const MEDIA_TYPES = ['application/json', 'application/merge-patch+json'];
/** The methods whose content has a meaning; the content of others is ignored (RFC 9110, 9.3.1). */
const METHODS = ['POST', 'PATCH'];

const coded = new WeakSet<Request>();

/**
 * Hides the body's content coding from the parser, which would refuse it before authentication. The interceptor refuses
 * it after those checks.
 */
export const setCodingAside = (request: Request, _response: Response, next: NextFunction): void => {
  const coding = request.headers['content-encoding'];
  if (coding !== undefined && coding.toLowerCase() !== 'identity') coded.add(request);
  delete request.headers['content-encoding'];
  next();
};

/**
 * Parses the body after the guards, so that a caller without credentials learns nothing about bodies and costs no
 * parsing. Until then the body is raw bytes, already limited in size.
 */
@Injectable()
export class JsonBodyInterceptor implements NestInterceptor {
  intercept(context: ExecutionContext, next: CallHandler): Observable<unknown> {
    const request = context.switchToHttp().getRequest<Request>();
    const refusal = refusalOfBody(request);
    if (refusal) throw refusal;
    const body: unknown = request.body;
    request.body = undefined;
    if (METHODS.includes(request.method) && Buffer.isBuffer(body) && body.length > 0) {
      const mayBeLines = takesLines(context.getHandler());
      const isLines = mayBeLines && request.is(NDJSON) !== false;
      if (coded.has(request) || !(isLines || MEDIA_TYPES.some((type) => request.is(type)))) {
        const types = mayBeLines ? `${MEDIA_TYPES[0]} or ${NDJSON}` : MEDIA_TYPES[0];
        throw new Problem('unsupported_media_type', { detail: `Send ${types}, uncompressed` });
      }
      request.body = mayBeLines ? body : parseStrictJson(body);
    }
    return next.handle();
  }
}
