import { ApiParam, ApiResponse, type OpenAPIObject } from '@nestjs/swagger';
import { SetMetadata, applyDecorators } from '@nestjs/common';
import { z } from 'zod';
import type { CodeWithStatus, ProblemCode } from '../problem.js';
import { refTo } from './api-schema.js';

/** The types of parts of an OpenAPI document; @nestjs/swagger exports only the whole. */
export type Components = NonNullable<OpenAPIObject['components']>;
export type PathItemObject = OpenAPIObject['paths'][string];
export type OperationObject = NonNullable<PathItemObject['get']>;
type ParameterOrReference = NonNullable<OperationObject['parameters']>[number];
export type ReferenceObject = Extract<ParameterOrReference, { $ref: string }>;
export type ParameterObject = Exclude<ParameterOrReference, ReferenceObject>;
export type ResponseObject = Exclude<OperationObject['responses'][string], ReferenceObject | undefined>;
export type ContentObject = NonNullable<ResponseObject['content']>;
export type HeaderObject = Exclude<NonNullable<Components['headers']>[string], ReferenceObject>;
export type ExampleObject = Exclude<NonNullable<Components['examples']>[string], ReferenceObject>;

const text = (description: string, example: string, pattern?: string): HeaderObject => ({
  description,
  schema: { type: 'string', ...(pattern === undefined ? {} : { pattern }) },
  example,
});
const seconds = (description: string, example: number): HeaderObject => ({
  description,
  schema: { type: 'integer', minimum: 1 },
  example,
});

/** Headers of answers by component name, each with its HTTP name. */
const HEADERS = {
  RequestId: [
    'X-Request-Id',
    text(
      'Identifies this request; quote it when you report a fault',
      'req_3f0c1b9e-5d1e-4c0a-9a57-2f6b0f0a7c11',
      '^req_',
    ),
  ],
  RateLimitPolicy: [
    'RateLimit-Policy',
    text(
      'The workspace’s rate policy for this request: its name, quota and window in seconds. Absent when the caller’s address is refused',
      '"read";q=1200;w=60',
    ),
  ],
  RateLimit: [
    'RateLimit',
    text(
      'Requests left in the policy, and the seconds until the full quota is available. Absent when the caller’s address is refused',
      '"read";r=199;t=1',
    ),
  ],
  RetryAfter: ['Retry-After', seconds('Seconds to wait before a retry', 2)],
  ETag: [
    'ETag',
    text('Identifies this state; send it back in `If-None-Match` or `If-Match`', '"0"', '^"[^"]+"$'),
  ],
  Location: [
    'Location',
    text('The path of the created resource', '/api/v1/readings/7d0c2b5e-3c57-4f27-9d1c-0a3f6e2b9c41', '^/'),
  ],
  IdempotencyReplayed: [
    'Idempotency-Replayed',
    text('`true`: this repeats the answer to the first request with this key', 'true', '^true$'),
  ],
  PreferenceApplied: [
    'Preference-Applied',
    text(
      'The seconds that the service may hold the request: those asked for, 60 at most',
      'wait=30',
      String.raw`^wait=\d+$`,
    ),
  ],
  ContentDisposition: [
    'Content-Disposition',
    text(
      'With a PDF: the file name',
      'attachment; filename="reading-7d0c2b5e-3c57-4f27-9d1c-0a3f6e2b9c41.pdf"',
    ),
  ],
  Help: [
    'Link',
    text(
      'The page that explains the problem',
      '</docs/errors/not_found>; rel="help"',
      String.raw`^</docs/errors/\w+>; rel="help"$`,
    ),
  ],
  WwwAuthenticate: [
    'WWW-Authenticate',
    text(
      'The credentials that the operation takes: `ApiKey` goes into `x-api-key`, `Bearer` into `Authorization`',
      'ApiKey realm="api", Bearer realm="api"',
      '^ApiKey realm="api"',
    ),
  ],
  Allow: ['Allow', text('The methods that the path supports', 'GET, HEAD')],
} as const satisfies Record<string, readonly [string, HeaderObject]>;

export type ApiHeaderName = keyof typeof HEADERS;

/** The headers of an answer, as references to their components. */
export const headers = (names: readonly ApiHeaderName[]): Record<string, ReferenceObject> =>
  Object.fromEntries(names.map((name) => [HEADERS[name][0], { $ref: `#/components/headers/${name}` }]));

export const headerComponents = (): Record<string, HeaderObject> =>
  Object.fromEntries(Object.entries(HEADERS).map(([name, [, header]]) => [name, { ...header }]));

/**
 * Parameters with the same meaning on every route, by the name a handler reads: a handler declares only
 * `@Headers('prefer')` or `@Query('limit')`. Headers have no example: `/docs/reference` would send it with each request, and the
 * second one would be a repetition or fail.
 */
const PARAMETERS: Readonly<Record<string, readonly [component: string, ParameterObject]>> = {
  'idempotency-key': [
    'IdempotencyKey',
    {
      name: 'Idempotency-Key',
      in: 'header',
      description:
        'Makes the request idempotent: for seven days, the same request gets the first answer and is not done again. Printable ASCII, preferably a new UUID, such as `6f1b7c9e-2d4c-4b0d-8a55-0e5f3f4b9d12`.',
      schema: { type: 'string', minLength: 1, maxLength: 255, pattern: '^[\\x20-\\x7e]+$' },
    },
  ],
  'if-none-match': [
    'IfNoneMatch',
    {
      name: 'If-None-Match',
      in: 'header',
      description:
        'Returns 304 without a body when the state still has this `ETag`, such as `"5f2d1c0b9a8e7d6c5b4a39281706f5e4"`',
      schema: { type: 'string' },
    },
  ],
  'if-match': [
    'IfMatch',
    {
      name: 'If-Match',
      in: 'header',
      description: 'Proceeds only if the current state has this `ETag`, such as `"0"`; otherwise returns 412',
      schema: { type: 'string' },
    },
  ],
  prefer: [
    'Prefer',
    {
      name: 'Prefer',
      in: 'header',
      description:
        '`wait=N` (RFC 7240), such as `wait=30`, holds the request until the state changes, for at most N seconds; more than 60 count as 60',
      schema: { type: 'string' },
    },
  ],
  limit: [
    'Limit',
    {
      name: 'limit',
      in: 'query',
      description: 'Maximum number of elements per page',
      schema: { type: 'integer', minimum: 1, maximum: 100, default: 50 },
      example: 20,
    },
  ],
  cursor: [
    'Cursor',
    {
      name: 'cursor',
      in: 'query',
      description: '`nextCursor` of the previous page, with the same filters; omit it for the first page',
      schema: { type: 'string', minLength: 1 },
    },
  ],
};

export const sharedParameter = (name: string): ReferenceObject | undefined => {
  const known = PARAMETERS[name.toLowerCase()];
  return known && { $ref: `#/components/parameters/${known[0]}` };
};

export const parameterComponents = (): Record<string, ParameterObject> =>
  Object.fromEntries(Object.values(PARAMETERS).map(([name, parameter]) => [name, { ...parameter }]));

export const REFUSALS = 'openapi:refusals';

/**
 * Describes a successful answer.
 * @param body its schema (JSON), or its content by media type; omitted: an answer without a body
 * @param carries headers in addition to those of every answer
 */
export const Answers = (
  status: number,
  description: string,
  body?: z.ZodType | ContentObject,
  carries: readonly ApiHeaderName[] = [],
) =>
  ApiResponse({
    status,
    description,
    headers: headers(carries),
    ...(body === undefined
      ? {}
      : { content: body instanceof z.ZodType ? { 'application/json': { schema: refTo(body) } } : body }),
  });

/**
 * Lists the problems that a route's own work can return. Problems of credentials, rate, body, idempotency and
 * parameters follow from the route's declaration.
 */
export const Refuses = (...codes: readonly (ProblemCode | CodeWithStatus)[]) => SetMetadata(REFUSALS, codes);

export const NAMED_REFUSALS = 'openapi:named';

/** Declares that the route's path contains the id, of this form, of a resource in the caller's workspace. */
export const Names = (
  parameter: string,
  unknown: ProblemCode,
  { description, example }: { readonly description: string; readonly example: string },
) =>
  applyDecorators(
    ApiParam({ name: parameter, description, schema: { type: 'string', examples: [example] } }),
    SetMetadata(NAMED_REFUSALS, [unknown, 'wrong_workspace'] satisfies ProblemCode[]),
  );
