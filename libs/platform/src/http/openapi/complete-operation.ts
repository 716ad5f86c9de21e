import type { OperationObject, ParameterObject, ReferenceObject, ResponseObject } from './document-types.js';
import type { CodeWithStatus, ProblemCode } from '../problem.js';
import { headers, sharedParameter } from './headers.js';
import { problemResponses } from './problem-responses.js';
import type { Route } from './routes.js';

/**
 * Adds to an operation what follows from its route's declaration: security, shared parameters and headers, and every
 * problem that its guards, pipes and interceptors can return.
 */
export const completeOperation = (operation: OperationObject, route: Route): OperationObject => {
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
  const answers = Object.entries(operation.responses).flatMap(([status, answer]) =>
    answer ? [[status, withHeaders(answer as ResponseObject, always, route)] as const] : [],
  );
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
          headers: { ...always, ...headers(['ETag']), ...headersOf(operation.responses[200]) },
        },
      }),
      ...problemResponses(problemsOf(own, reads, route), route.accepts !== 'public', pagesOf(route)),
    },
  };
};

const headersOf = (answer: ResponseObject | ReferenceObject | undefined): ResponseObject['headers'] =>
  answer && 'headers' in answer ? answer.headers : {};

/** The codes that a browser gets as a page. */
const pagesOf = ({ refusesInWords, refusals }: Route): readonly (ProblemCode | CodeWithStatus)[] =>
  refusesInWords ? refusals : [];

const isParameter = (one: ParameterObject | ReferenceObject): one is ParameterObject => 'name' in one;

/** Path parameters in path order, then the others in declaration order (decorators run last to first). */
const inOrder = (parameters: readonly ParameterObject[], path: string): readonly ParameterObject[] => {
  const place = ({ name }: ParameterObject): number => path.indexOf(`{${name}}`);
  const ofPath = parameters.filter((one) => one.in === 'path').sort((a, b) => place(a) - place(b));
  return [...ofPath, ...parameters.filter((one) => one.in !== 'path').reverse()];
};

const withHeaders = (
  answer: ResponseObject,
  always: ResponseObject['headers'],
  { method }: Route,
): ResponseObject => ({
  ...answer,
  headers: {
    ...always,
    ...(method === 'post' && headers(['IdempotencyReplayed'])),
    ...answer.headers,
  },
});

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
