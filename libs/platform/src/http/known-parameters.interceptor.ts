import {
  Injectable,
  SetMetadata,
  type CallHandler,
  type ExecutionContext,
  type NestInterceptor,
  type Type,
} from '@nestjs/common';
import { ROUTE_ARGS_METADATA } from '@nestjs/common/constants.js';
import { RouteParamtypes } from '@nestjs/common/enums/route-paramtypes.enum.js';
import type { Request } from 'express';
import type { Observable } from 'rxjs';
import { checkParameters } from './query-parameters.js';

const ANY_PARAMETERS = 'http:any-parameters';
/** The metadata key of @nestjs/swagger's `@ApiQuery`. */
const API_PARAMETERS = 'swagger/apiParameters';

/** Routes of this controller ignore unknown parameters, because probes add some to bypass caches. */
export const IgnoresParameters = () => SetMetadata(ANY_PARAMETERS, true);

/** Whether a controller has `@IgnoresParameters()`. */
export const ignoresParameters = (controller: object): boolean =>
  Reflect.getMetadata(ANY_PARAMETERS, controller) === true;

type Handler = ReturnType<ExecutionContext['getHandler']>;

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

/**
 * The query parameters of a route, which its handler reads (`@Query('name')`) or describes (`@ApiQuery`). Says for each
 * whether it may repeat, which is so when its schema is an array.
 */
const declaredParameters = (controller: Type<unknown>, handler: Handler): ReadonlyMap<string, boolean> => {
  const described = (Reflect.getMetadata(API_PARAMETERS, handler) ?? []) as readonly {
    readonly in?: string;
    readonly name?: unknown;
    readonly schema?: { readonly type?: unknown };
  }[];
  return new Map([
    ...namesRead(controller, handler.name, RouteParamtypes.QUERY).map((name) => [name, false] as const),
    ...described
      .filter((one) => one.in === 'query')
      .map(({ name, schema }) => [String(name), schema?.type === 'array'] as const),
  ]);
};

/** What a handler reads by name with decorators of these kinds, in its order. */
export const namesRead = (
  controller: Type<unknown>,
  handler: string,
  ...kinds: readonly RouteParamtypes[]
): readonly string[] => {
  const declared = (Reflect.getMetadata(ROUTE_ARGS_METADATA, controller, handler) ?? {}) as Readonly<
    Record<string, { readonly index: number; readonly data: unknown }>
  >;
  return Object.entries(declared)
    .filter(([key]) => kinds.includes(Number.parseInt(key, 10)))
    .sort(([, a], [, b]) => a.index - b.index)
    .flatMap(([, { data }]) => (typeof data === 'string' ? [data] : []));
};
