import type { ExecutionContext, Type } from '@nestjs/common';
import { ROUTE_ARGS_METADATA } from '@nestjs/common/constants.js';
import { RouteParamtypes } from '@nestjs/common/enums/route-paramtypes.enum.js';

/** The metadata key of @nestjs/swagger's `@ApiQuery`. */
const API_PARAMETERS = 'swagger/apiParameters';

type Handler = ReturnType<ExecutionContext['getHandler']>;
interface ApiParameter {
  readonly in?: string;
  readonly name?: unknown;
  readonly schema?: { readonly type?: unknown };
}

const known = new WeakMap<Handler, ReadonlyMap<string, boolean>>();

/**
 * The query parameters of a route, which its handler reads (`@Query('name')`) or describes (`@ApiQuery`). Says for each
 * whether it may repeat, which is so when its schema is an array.
 */
export const declaredParameters = (
  controller: Type<unknown>,
  handler: Handler,
): ReadonlyMap<string, boolean> => {
  const found =
    known.get(handler) ?? new Map([...namesRead(controller, handler), ...namesDescribed(handler)]);
  known.set(handler, found);
  return found;
};

const namesRead = (controller: Type<unknown>, handler: Handler): [string, boolean][] => {
  const declared = (Reflect.getMetadata(ROUTE_ARGS_METADATA, controller, handler.name) ?? {}) as Readonly<
    Record<string, { readonly data: unknown }>
  >;
  return Object.entries(declared).flatMap(([key, { data }]): [string, boolean][] =>
    Number.parseInt(key, 10) === Number(RouteParamtypes.QUERY) && typeof data === 'string'
      ? [[data, false]]
      : [],
  );
};

const namesDescribed = (handler: Handler): [string, boolean][] => {
  const described = (Reflect.getMetadata(API_PARAMETERS, handler) ?? []) as readonly ApiParameter[];
  return described.flatMap((one): [string, boolean][] =>
    one.in === 'query' && typeof one.name === 'string' ? [[one.name, one.schema?.type === 'array']] : [],
  );
};
