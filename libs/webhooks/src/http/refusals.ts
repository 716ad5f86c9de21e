import { Injectable, type CallHandler, type ExecutionContext, type NestInterceptor } from '@nestjs/common';
import { catchError, throwError, type Observable } from 'rxjs';
import { Problem, invalidRequest } from '@app/platform/http/problem.js';
import { WebhookRefused } from '../contracts/errors.js';

/** Answers refused commands as problems; those about the URL point at it. */
@Injectable()
export class RefusalsAsProblems implements NestInterceptor {
  intercept(_: ExecutionContext, next: CallHandler): Observable<unknown> {
    return next.handle().pipe(catchError((error: unknown) => throwError(() => asProblem(error))));
  }
}

export const asProblem = (error: unknown): unknown => {
  if (!(error instanceof WebhookRefused)) return error;
  const { code, detail, more } = error;
  if (code === 'invalid_webhook_url' || code === 'webhook_url_blocked') {
    return invalidRequest([{ pointer: '/url', code, detail: detail ?? 'cannot be used' }]);
  }
  const { members, retryAfterSeconds } = more;
  return new Problem(code, {
    ...(detail === undefined ? {} : { detail }),
    ...(members === undefined ? {} : { members }),
    ...(retryAfterSeconds === undefined ? {} : { headers: { 'Retry-After': String(retryAfterSeconds) } }),
  });
};
