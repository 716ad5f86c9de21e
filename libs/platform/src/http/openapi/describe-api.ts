import { z } from 'zod';
import {
  headers,
  NAMED_REFUSALS,
  REFUSALS,
  headerComponents,
  parameterComponents,
  sharedParameter,
  type ExampleObject,
  type ReferenceObject,
  type ResponseObject,
  type ApiHeaderName,
  type Components,
  type OperationObject,
  type ParameterObject,
} from './operation.js';
import {
  PROBLEMS,
  Problem,
  invalidRequest,
  problemBody,
  type CodeWithStatus,
  type ProblemCode,
  type ProblemOptions,
} from '../problem.js';
import { apiSchema, refTo, apiSchemas } from './api-schema.js';
import { RequestMethod, type INestApplication, type Type } from '@nestjs/common';
import { METHOD_METADATA, PATH_METADATA } from '@nestjs/common/constants.js';
import { RouteParamtypes } from '@nestjs/common/enums/route-paramtypes.enum.js';
import { DiscoveryService, MetadataScanner, ModulesContainer, Reflector } from '@nestjs/core';
import { ACCEPTS_KEY } from '../../auth/authentication.js';
import type { NeededScopes } from '../../auth/scopes.js';
import { OWN_IDEMPOTENCY_KEY } from '../../idempotency/idempotency.interceptor.js';
import { ignoresParameters, namesRead } from '../known-parameters.interceptor.js';
import { MEDIA_TYPES } from '../accept.guard.js';
import type { NestExpressApplication } from '@nestjs/platform-express';
import { SwaggerModule, type OpenAPIObject } from '@nestjs/swagger';

const MEDIA_TYPE = 'application/problem+json';
const REQUEST_ID = 'req_3f0c1b9e-5d1e-4c0a-9a57-2f6b0f0a7c11';
const REPLAY_ID = '2b7d9a40-1a6b-4c1f-8f0e-9d3c5b7a1e62';
const REPLAY = `/api/v1/webhooks/we_0b9a1c52-6f0e-4d7b-9a35-3f1f6a2f0c88/replays/${REPLAY_ID}`;
const CODES = Object.keys(PROBLEMS) as [ProblemCode, ...ProblemCode[]];

/** The fault of one field, or of a query parameter. */
const invalid = (pointer: string, code: ProblemCode, detail: string): ProblemOptions =>
  invalidRequest([{ pointer, code, detail }]).options;
/** What each example says beyond its title, in the service's own words. */
const EXAMPLES: Partial<Record<ProblemCode, ProblemOptions>> = {
  validation_failed: {
    detail: '2 fields are invalid',
    errors: [
      { pointer: '/dateOfBirth', code: 'invalid_date', detail: 'must be a calendar date YYYY-MM-DD' },
      { pointer: '/name/lastNames', code: 'required', detail: 'is required' },
    ],
  },
  unknown_parameter: invalid(
    '?staus',
    'unknown_parameter',
    'is not a parameter of this request; it has createdSince, createdUntil, cursor, externalId, limit, status',
  ),
  malformed_json: { detail: 'The body must be one JSON value in UTF-8' },
  unsupported_locale: invalid('/locale', 'unsupported_locale', 'must be one of fr-FR, en-US'),
  unknown_product: invalid('/productId', 'unknown_product', 'must be theme'),
  unknown_profile: invalid('/profileId', 'unknown_profile', 'must be evan'),
  invalid_format: invalid('?format', 'invalid_format', 'must be one of document_v1, markdown, pdf'),
  invalid_webhook_url: invalid('/url', 'invalid_webhook_url', 'must be an absolute URL'),
  webhook_url_blocked: invalid('/url', 'webhook_url_blocked', 'leads to an address that is not public'),
  unsupported_event_type: invalid(
    '/events/0',
    'unsupported_event_type',
    'must be one of reading.completed, reading.published, reading.failed, reading.delayed',
  ),
  scope_missing: {
    detail: 'The API key needs the scope readings:write',
    members: { scope: 'readings:write' },
  },
  network_not_allowed: { detail: 'This API key works only from other networks' },
  insufficient_credits: {
    detail: 'The reading costs 20 credits; 10 are available',
    members: { required: 20, available: 10 },
  },
  key_limit_reached: {
    detail: 'A workspace has at most 100 active keys, and ten times as many with expired ones; revoke some',
  },
  link_limit_reached: { detail: 'A document has at most 100 live links' },
  version_limit_reached: { detail: 'A document has at most 20 versions' },
  replay_in_progress: {
    detail: `See or stop it at ${REPLAY}`,
    members: { replayId: REPLAY_ID },
  },
  no_longer_kept: {
    detail: 'What happened before 2026-04-04T09:30:00.000Z may be deleted',
    members: { keptSince: '2026-04-04T09:30:00.000Z' },
  },
  method_not_allowed: { detail: 'Use GET, HEAD' },
  not_acceptable: { detail: 'The answer can be application/json' },
  unsupported_media_type: { detail: 'Send application/json, uncompressed' },
  rate_limited: { detail: 'More than 1200 requests a minute (read), or more than 200 at once' },
};

const exampleOf = (code: ProblemCode, status = PROBLEMS[code][0] as number) =>
  problemBody(new Problem(code, { ...EXAMPLES[code], status }), REQUEST_ID);

const problem = z.object({
  type: z.string().describe('`urn:problem:` followed by the code, which `/docs/errors/{code}` explains'),
  title: z.string().describe('What the code means, in words'),
  status: z.int().describe('The HTTP status'),
  code: z.enum(CODES).describe('Base decisions on this; the list is closed'),
  detail: z.string().optional().describe('What is wrong in this request'),
  instance: z.string().describe('`urn:request:` followed by the request id'),
  requestId: z.string().describe('Also in the header `X-Request-Id`'),
  errors: z
    .array(
      z.object({
        pointer: z
          .string()
          .describe('RFC 6901 pointer into the body; for a query parameter, `?` and its name'),
        code: z.string().describe('What is wrong with the field'),
        detail: z.string().describe('Never repeats your input'),
      }),
    )
    .optional()
    .describe('All invalid fields at once: at most 100, and 16 KiB. A pointer has at most 200 characters'),
  errorsOmitted: z.int().optional().describe('How many more errors were found than `errors` lists'),
  required: z.int().optional().describe('With `insufficient_credits`: what the reading costs'),
  available: z.int().optional().describe('With `insufficient_credits`: the credits available'),
  scope: z.string().optional().describe('With `scope_missing`: the scope that the credential lacks'),
  keptSince: z
    .string()
    .optional()
    .describe('With `no_longer_kept`: what happened from this instant on is kept (RFC 3339)'),
  replayId: z.uuid().optional().describe('With `replay_in_progress`: the running replay'),
});

const problemSchema = apiSchema(
  'Problem',
  problem,
  'A refusal (RFC 9457). Its `Link` with `rel="help"` leads to the page that explains the code.',
  exampleOf('validation_failed') as z.infer<typeof problem>,
);

/** Refused before the caller is known, so no rate is counted. */
const BEFORE_THE_RATE = [401, 413];
/** Headers that answers of a status have in addition to the common ones. */
const OWN_HEADERS: Readonly<Record<number, readonly ApiHeaderName[]>> = {
  401: ['WwwAuthenticate'],
  404: ['RetryAfter'],
  405: ['Allow'],
  409: ['RetryAfter'],
  429: ['RetryAfter'],
  503: ['RetryAfter'],
};

/**
 * The answer with one status, for its possible codes.
 * @param isCounted whether the request counts towards a workspace's rate
 */
const problemResponse = (status: number, codes: readonly ProblemCode[], isCounted = true): ResponseObject => {
  const ofRate: readonly ApiHeaderName[] =
    !isCounted || BEFORE_THE_RATE.includes(status) ? [] : ['RateLimitPolicy', 'RateLimit'];
  return {
    description: codes.map((code) => `\`${code}\`: ${PROBLEMS[code][1]}`).join('; '),
    headers: headers(['RequestId', 'Help', ...ofRate, ...(OWN_HEADERS[status] ?? [])]),
    content: {
      [MEDIA_TYPE]: {
        schema: {
          allOf: [
            refTo(problemSchema),
            {
              type: 'object',
              properties: {
                status: { const: status, description: 'The HTTP status' },
                code: { enum: [...codes], description: 'What is wrong' },
              },
            } as Record<string, unknown>,
          ],
        },
        examples: Object.fromEntries(
          codes.map((code) => [
            code,
            PROBLEMS[code][0] === status
              ? { $ref: `#/components/examples/${code}` }
              : { summary: PROBLEMS[code][1], value: exampleOf(code, status) },
          ]),
        ),
      },
    },
  };
};

/**
 * By status, the answers that refuse an operation with these codes; see `problemResponse`.
 * @param asPages those of them that a browser gets as a page
 */
export const problemResponses = (
  codes: readonly (ProblemCode | CodeWithStatus)[],
  isCounted: boolean,
  asPages: readonly (ProblemCode | CodeWithStatus)[] = [],
): Record<string, ResponseObject | ReferenceObject> => {
  const byStatus = new Map<number, ProblemCode[]>();
  for (const code of CODES) {
    const status = statusAmong(codes, code);
    if (status === null) continue;
    const known = byStatus.get(status);
    if (known) known.push(code);
    else byStatus.set(status, [code]);
  }
  return Object.fromEntries(
    [...byStatus].map(([status, all]) => [
      String(status),
      all.some((code) => statusAmong(asPages, code) !== null)
        ? withPage(problemResponse(status, all, isCounted))
        : all.length === 1 && PROBLEMS[all[0]!][0] === status && (isCounted || status !== 429)
          ? { $ref: `#/components/responses/${all[0]}` }
          : problemResponse(status, all, isCounted),
    ]),
  );
};

const withPage = (response: ResponseObject): ResponseObject => ({
  ...response,
  content: { ...response.content, 'text/html; charset=utf-8': { schema: { type: 'string' } } },
});

/** The status of a code in an operation that refuses with these codes; `null` when it does not. */
const statusAmong = (codes: readonly (ProblemCode | CodeWithStatus)[], code: ProblemCode): number | null => {
  const found = codes.find((one) => (typeof one === 'string' ? one : one.code) === code);
  if (found === undefined) return null;
  return typeof found === 'string' ? PROBLEMS[code][0] : found.status;
};

export const problemComponents = () => ({
  /** One answer for each problem. */
  responses: Object.fromEntries(CODES.map((code) => [code, problemResponse(PROBLEMS[code][0], [code])])),
  examples: Object.fromEntries(
    CODES.map((code): [string, ExampleObject] => [
      code,
      { summary: PROBLEMS[code][1], value: exampleOf(code) },
    ]),
  ),
});

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

/**
 * The OpenAPI 3.1 document of an application, from its controllers.
 * @param description what controllers do not declare: title, tags, security schemes, webhooks, further components
 */
export const describeApi = (
  app: NestExpressApplication,
  description: Omit<OpenAPIObject, 'paths'>,
): OpenAPIObject => {
  const document = SwaggerModule.createDocument(app, description, { autoTagControllers: false });
  for (const route of routesOf(app)) {
    const item = document.paths[route.path];
    const operation = item?.[route.method];
    if (operation) item[route.method] = completeOperation(operation, route);
  }
  const { schemas, ...components } = document.components ?? {};
  const bodies = Object.entries(schemas ?? {}).map(([name, schema]) => [
    name,
    // Closes objects, as the body pipe does. Leaves given schemas as their publisher defines them.
    description.components?.schemas?.[name] ? schema : { ...schema, additionalProperties: false },
  ]);
  const shapes = apiSchemas();
  const twice = Object.keys(shapes).filter((name) => schemas?.[name]);
  if (twice.length > 0) throw new Error(`Several schemas have the name ${twice.join(', ')}`);
  const whole: OpenAPIObject = {
    ...document,
    components: {
      ...components,
      headers: headerComponents(),
      parameters: parameterComponents(),
      ...problemComponents(),
      schemas: { ...(Object.fromEntries(bodies) as Components['schemas']), ...shapes },
    },
  };
  return plainSchemas({ ...whole, components: used(whole) });
};

/** Answers that belong to no operation: to an unknown path or method. */
const OF_NO_OPERATION = ['not_found', 'method_not_allowed', 'rate_limited'].map(
  (code) => `#/components/responses/${code}`,
);

/** The components that the document refers to, directly or through others. */
const used = ({ components = {}, paths, webhooks }: OpenAPIObject): Components => {
  const seen = new Set<string>();
  const follow = (part: unknown): void => {
    for (const [, reference = ''] of JSON.stringify(part).matchAll(/"(#\/components\/\w+\/[^"/]+)/g)) {
      if (seen.has(reference)) continue;
      seen.add(reference);
      const [, , kind = '', name = ''] = reference.split('/');
      follow((components as Record<string, Record<string, unknown>>)[kind]?.[name] ?? null);
    }
  };
  follow([paths, webhooks, OF_NO_OPERATION]);
  return Object.fromEntries(
    Object.entries(components).map(([kind, members]) => [
      kind,
      kind === 'securitySchemes'
        ? members
        : Object.fromEntries(
            Object.entries(members as Record<string, unknown>).filter(([name]) =>
              seen.has(`#/components/${kind}/${name}`),
            ),
          ),
    ]),
  );
};

/**
 * Adds to an operation what follows from its route's declaration: security, shared parameters and headers, and every
 * problem that its guards, pipes and interceptors can return.
 */
const completeOperation = (operation: OperationObject, route: Route): OperationObject => {
  const reads = new Set(route.method === 'post' ? [...route.reads, 'idempotency-key'] : route.reads);
  const own = (operation.parameters ?? [])
    .filter(isParameter)
    .filter(({ name }) => sharedParameter(name) === undefined);
  const parameters = [
    ...inOrder(own, route.path),
    ...[...reads].flatMap((name) => sharedParameter(name) ?? []),
  ];
  const always = headers(
    route.accepts === 'public' ? ['RequestId'] : ['RequestId', 'RateLimitPolicy', 'RateLimit'],
  );
  const own200 = operation.responses[200] as ResponseObject | undefined;
  const answers = Object.entries(operation.responses).map(([status, answer]) => {
    const replayed = route.method === 'post' && headers(['IdempotencyReplayed']);
    return [
      status,
      { ...answer, headers: { ...always, ...replayed, ...(answer as ResponseObject).headers } },
    ] as const;
  });
  return {
    ...operation,
    security: securityOf(route),
    parameters,
    responses: {
      ...Object.fromEntries(answers),
      ...(reads.has('if-none-match') && {
        // A handler sets its headers before it knows that nothing has changed.
        304: {
          description: 'The state is the one you have',
          headers: { ...always, ...headers(['ETag']), ...own200?.headers },
        },
      }),
      ...problemResponses(
        problemsOf(own, reads, route),
        route.accepts !== 'public',
        // The codes that a browser gets as a page.
        route.refusesInWords ? route.refusals : [],
      ),
    },
  };
};

const isParameter = (one: ParameterObject | ReferenceObject): one is ParameterObject => 'name' in one;

/** Path parameters in path order, then the others in declaration order (decorators run last to first). */
const inOrder = (parameters: readonly ParameterObject[], path: string): readonly ParameterObject[] => {
  const place = ({ name }: ParameterObject): number => path.indexOf(`{${name}}`);
  const ofPath = parameters.filter((one) => one.in === 'path').sort((a, b) => place(a) - place(b));
  return [...ofPath, ...parameters.filter((one) => one.in !== 'path').reverse()];
};

/** OpenAPI 3.1 lets every kind of scheme list the roles, here scopes, that a call needs. */
const securityOf = ({ accepts }: Route): Record<string, string[]>[] =>
  accepts === undefined || accepts === 'public'
    ? []
    : Object.entries(accepts).map(([mode, scope]) => ({ [mode]: [scope as string] }));

const problemsOf = (
  own: readonly ParameterObject[],
  reads: ReadonlySet<string>,
  { method, accepts, keepsOwnKeys, ignoresParameters, refusals }: Route,
): readonly (ProblemCode | CodeWithStatus)[] => {
  const hasQuery = reads.has('limit') || own.some((one) => one.in === 'query');
  const takesBody = method === 'post' || method === 'patch';
  return [
    'not_acceptable',
    'payload_too_large',
    'internal_error',
    'rate_limited',
    ...refusals,
    ...when(!ignoresParameters, 'unknown_parameter'),
    ...when(
      accepts !== 'public',
      'unauthenticated',
      'auth_mode_not_allowed',
      'scope_missing',
      'network_not_allowed',
      method === 'get' ? 'service_unavailable' : 'enqueue_unavailable',
    ),
    ...when(takesBody, 'malformed_json', 'validation_failed', 'unsupported_media_type'),
    ...when(hasQuery, 'validation_failed'),
    ...when(reads.has('if-match'), 'precondition_failed'),
    ...when(method === 'post', 'idempotency_key_reused'),
    ...when(method === 'post' && !keepsOwnKeys, 'idempotency_in_progress'),
  ];
};

const when = (applies: boolean, ...codes: readonly ProblemCode[]): readonly ProblemCode[] =>
  applies ? codes : [];

type Json = Record<string, unknown>;

/** Members that hold values, not schemas: what looks like a keyword inside them is data. */
const VALUES = new Set(['const', 'default', 'enum', 'example', 'examples']);
/** Members that hold schemas by names of their own. */
const BY_NAME = new Set(['properties', 'patternProperties', 'schemas']);

/**
 * The same document in keywords that code generators and validating proxies know. A constant becomes an enumeration of
 * one value, each enumeration names its type, and a tuple also has `items`, which its `maxItems` leaves without effect.
 */
const plainSchemas = <T>(document: T): T => plain(document, false) as T;

const plain = (part: unknown, isByName: boolean): unknown => {
  if (Array.isArray(part)) return part.map((one) => plain(one, false));
  if (typeof part !== 'object' || part === null) return part;
  const inside = Object.fromEntries(
    Object.entries(part).map(([name, inner]) => [
      name,
      !isByName && VALUES.has(name) ? inner : plain(inner, !isByName && BY_NAME.has(name)),
    ]),
  );
  return isByName ? inside : withItems(withType(withoutConstant(inside)));
};

const withoutConstant = (schema: Json): Json => {
  const { const: value, ...others } = schema;
  return 'const' in schema ? { enum: [value], ...others } : schema;
};

const withType = (schema: Json): Json => {
  if (!Array.isArray(schema['enum']) || 'type' in schema) return schema;
  const types = [...new Set(schema['enum'].map(typeOf))];
  return { type: types.length === 1 ? types[0] : types, ...schema };
};

const typeOf = (value: unknown): string =>
  value === null ? 'null' : Number.isInteger(value) ? 'integer' : typeof value;

const withItems = (schema: Json): Json => {
  const { prefixItems, items } = schema;
  if (!Array.isArray(prefixItems) || items !== undefined) return schema;
  return { ...schema, items: { anyOf: prefixItems } };
};
