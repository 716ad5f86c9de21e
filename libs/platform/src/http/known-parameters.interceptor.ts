import {
  Injectable,
  SetMetadata,
  type CallHandler,
  type ExecutionContext,
  type NestInterceptor,
} from '@nestjs/common';
import type { Request } from 'express';
import type { Observable } from 'rxjs';
import { declaredParameters } from './openapi/declared-parameters.js';
import { checkParameters } from './query-parameters.js';

const ANY_PARAMETERS = 'http:any-parameters';

/** Routes of this controller ignore unknown parameters, because probes add some to bypass caches. */
export const IgnoresParameters = () => SetMetadata(ANY_PARAMETERS, true);

/** Whether a controller has `@IgnoresParameters()`. */
export const ignoresParameters = (controller: object): boolean =>
  Reflect.getMetadata(ANY_PARAMETERS, controller) === true;

/**
 * Refuses query parameters that the route does not declare, and duplicates. Otherwise a misspelt filter would filter
 * nothing. Runs after the guards, so that callers without access learn nothing.
 */
@Injectable()
export class KnownParameters implements NestInterceptor {
  intercept(context: ExecutionContext, next: CallHandler): Observable<unknown> {
    const { url } = context.switchToHttp().getRequest<Request>();
    const mark = url.indexOf('?');
    if (mark !== -1 && !ignoresParameters(context.getClass()))
      checkParameters(url.slice(mark + 1), declaredParameters(context.getClass(), context.getHandler()));
    return next.handle();
  }
}
