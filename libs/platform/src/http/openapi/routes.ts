import { RequestMethod, type INestApplication, type Type } from '@nestjs/common';
import { METHOD_METADATA, PATH_METADATA } from '@nestjs/common/constants.js';
import { RouteParamtypes } from '@nestjs/common/enums/route-paramtypes.enum.js';
import { DiscoveryService, MetadataScanner, ModulesContainer, Reflector } from '@nestjs/core';
import { ACCEPTS_KEY } from '../../auth/authentication.js';
import type { NeededScopes } from '../../auth/scopes.js';
import { OWN_IDEMPOTENCY_KEY } from '../../idempotency/idempotency.interceptor.js';
import type { CodeWithStatus, ProblemCode } from '../problem.js';
import { ignoresParameters, namesRead } from '../known-parameters.interceptor.js';
import { MEDIA_TYPES } from '../accept.guard.js';
import { NAMED_REFUSALS, REFUSALS } from './operation.js';

/** A route as its controller declares it. */
export interface Route {
  /** Lower case. */
  readonly method: 'get' | 'post' | 'put' | 'patch' | 'delete';
  /** The path, with parameters in braces. */
  readonly path: string;
  /** `Controller.handler`, for messages. */
  readonly handler: string;
  /** Absent when the route declares none: then it refuses everyone. */
  readonly accepts: NeededScopes | 'public' | undefined;
  readonly keepsOwnKeys: boolean;
  /** Whether the route ignores unknown query parameters instead of refusing them. */
  readonly ignoresParameters: boolean;
  /** The headers and query parameters that the handler reads by name, lower case, in the handler's order. */
  readonly reads: readonly string[];
  readonly refusals: readonly (ProblemCode | CodeWithStatus)[];
  /** Whether a browser gets a page instead of what the route itself refuses. */
  readonly refusesInWords: boolean;
}

/** Every route of the application, read from its controllers. */
export const routesOf = (app: Pick<INestApplication, 'get'>): readonly Route[] => {
  const discovery = new DiscoveryService(app.get(ModulesContainer));
  const scanner = new MetadataScanner();
  return discovery.getControllers().flatMap(({ metatype }) => {
    const controller = metatype as Type<unknown>;
    const prototype = controller.prototype as Record<string, (...values: unknown[]) => unknown>;
    return scanner
      .getAllMethodNames(prototype)
      .filter((name) => Reflect.hasMetadata(PATH_METADATA, prototype[name]!))
      .map((name) => routeOf(controller, prototype[name]!));
  });
};

const reflector = new Reflector();

const routeOf = (controller: Type<unknown>, handler: (...values: unknown[]) => unknown): Route => {
  const targets = [handler, controller];
  const method = RequestMethod[
    Reflect.getMetadata(METHOD_METADATA, handler) as RequestMethod
  ].toLowerCase() as Route['method'];
  return {
    method,
    path: joined(
      Reflect.getMetadata(PATH_METADATA, controller) as string,
      Reflect.getMetadata(PATH_METADATA, handler) as string,
    ),
    handler: `${controller.name}.${handler.name}`,
    accepts: reflector.getAllAndOverride<Route['accepts']>(ACCEPTS_KEY, targets),
    keepsOwnKeys: reflector.getAllAndOverride<boolean | undefined>(OWN_IDEMPOTENCY_KEY, targets) ?? false,
    ignoresParameters: ignoresParameters(controller),
    // Not from types: compilers emit different metadata for `string | undefined`.
    reads: namesRead(controller, handler.name, RouteParamtypes.HEADERS, RouteParamtypes.QUERY).map((name) =>
      name.toLowerCase(),
    ),
    refusesInWords:
      reflector.getAllAndOverride<string[] | undefined>(MEDIA_TYPES, targets)?.includes('text/html') ?? false,
    refusals: [REFUSALS, NAMED_REFUSALS].flatMap((key) =>
      targets.flatMap((target) => (Reflect.getMetadata(key, target) as Route['refusals'] | undefined) ?? []),
    ),
  };
};

const joined = (...parts: readonly string[]): string =>
  `/${parts
    .flatMap((part) => part.split('/'))
    .filter(Boolean)
    .join('/')}`.replaceAll(/:(\w+)/g, '{$1}');

/**
 * Checks that every route declares who may call it. Otherwise the route would refuse everyone, and nobody would notice
 * until they need it.
 * @throws Error that names each route without such a declaration
 */
export const requireDeclared = (routes: readonly Route[]): void => {
  const faults = routes
    .filter(({ accepts }) => accepts === undefined || Object.keys(accepts).length === 0)
    .map(
      ({ method, path, handler }) =>
        `${method.toUpperCase()} ${path} (${handler}) does not say who may call it: add @Accepts({ apiKey: 'some:scope' }) or @Public()`,
    );
  if (faults.length > 0) throw new Error(faults.join('\n'));
};
