import type { NestExpressApplication } from '@nestjs/platform-express';
import { SwaggerModule, type OpenAPIObject } from '@nestjs/swagger';
import { apiSchemas } from './api-schema.js';
import type {
  Components,
  OperationObject,
  ParameterObject,
  ReferenceObject,
  ResponseObject,
} from './document-types.js';
import type { CodeWithStatus, ProblemCode } from '../problem.js';
import { headerComponents, headers, parameterComponents, sharedParameter } from './headers.js';
import { problemComponents, problemResponses } from './problem-responses.js';
import { routesOf, type Route } from './routes.js';

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
