import { Injectable, type CallHandler, type ExecutionContext, type NestInterceptor } from '@nestjs/common';
import type { Request } from 'express';
import type { Observable } from 'rxjs';
import { Problem } from './problem.js';
import { parseStrictJson } from './strict-json.js';

const MEDIA_TYPES = ['application/json', 'application/merge-patch+json'];

/**
 * Parses the body after the guards, so that a caller without credentials learns nothing about bodies and costs no
 * parsing. Until then it is raw bytes, already limited in size.
 */
@Injectable()
export class JsonBodyInterceptor implements NestInterceptor {
  intercept(context: ExecutionContext, next: CallHandler): Observable<unknown> {
    const request = context.switchToHttp().getRequest<Request>();
    const body: unknown = request.body;
    if (Buffer.isBuffer(body) && body.length > 0) {
      if (!MEDIA_TYPES.some((type) => request.is(type) !== false)) {
        throw new Problem('unsupported_media_type', { detail: `Send ${MEDIA_TYPES[0]}` });
      }
      request.body = parseStrictJson(body);
    } else if (request.method === 'POST' || request.method === 'PATCH') {
      request.body = undefined;
    }
    return next.handle();
  }
}
