import { randomBytes } from 'node:crypto';

/** A way to load the service without credentials. */
export interface Attack {
  readonly name: string;
  readonly connections: number;
  /** The bytes of the n-th request, Latin-1. */
  readonly request: (n: number) => string;
  /** Requests written at once, without waiting for responses. */
  readonly depth?: number;
  /** Whether responses are read; if not, they accumulate at the service. */
  readonly reads?: boolean;
  /** Whether the connection is reset right after the requests are written. */
  readonly leaves?: boolean;
  readonly target?: string;
}

const asking = (method: string, path: string, headers: readonly string[] = [], body = ''): string =>
  [`${method} ${path} HTTP/1.1`, 'host: a', ...headers, '', body].join('\r\n');

const sized = (body: string): readonly string[] => [
  'content-type: application/json',
  `content-length: ${body.length}`,
];
const BODY = JSON.stringify({ a: 'x'.repeat(16_000) });
const ETAGS = Array.from({ length: 700 }, (_, n) => `"${String(n).padStart(16, '0')}"`).join(',');
const PARAMETERS = Array.from({ length: 2_500 }, (_, n) => `p${n}`).join('&');
const HEADERS = Array.from({ length: 1_500 }, (_, n) => `h${n}: 1`);

/** Connections of a caller who repeats a request as soon as the response arrives. */
const MANY = 50;
const repeated = (name: string, request: Attack['request']): Attack => ({ name, connections: MANY, request });
const garbage = (length: number): string => randomBytes(length).toString('base64url');

export const ATTACKS: readonly Attack[] = [
  repeated('GET /healthz', () => asking('GET', '/healthz')),
  repeated('GET /readyz', () => asking('GET', '/readyz')),
  repeated('GET /openapi.json', () => asking('GET', '/openapi.json')),
  repeated('HEAD /openapi.json', () => asking('HEAD', '/openapi.json')),
  repeated('GET /docs', () => asking('GET', '/docs')),
  repeated('GET /docs/reference/swagger-ui-bundle.js', () =>
    asking('GET', '/docs/reference/swagger-ui-bundle.js'),
  ),
  repeated('GET /schemas/result.json', () => asking('GET', '/schemas/result.json')),
  repeated('a path that does not exist', () => asking('GET', '/nothing')),
  repeated('a path that does not decode', () => asking('GET', '/api/v1/readings/%E0%A4%A')),
  repeated('a method that the path does not have', () => asking('OPTIONS', '/api/v1/readings')),
  repeated('no credentials', () => asking('GET', '/api/v1/credits')),
  repeated('malformed keys', () => asking('GET', '/api/v1/credits', ['x-api-key: none'])),
  repeated('garbage as bearer token', () =>
    asking('GET', '/api/v1/credits', [
      `authorization: Bearer ${Buffer.from('{"alg":"EdDSA","kid":"x"}').toString('base64url')}.${garbage(200)}.${garbage(64)}`,
    ]),
  ),
  repeated('16 KiB of body, no credentials', () => asking('POST', '/api/v1/readings', sized(BODY), BODY)),
  repeated('700 entity tags', () => asking('GET', '/schemas/result.json', [`if-none-match: ${ETAGS}`])),
  repeated('2,500 query parameters', () => asking('GET', `/healthz?${PARAMETERS}`)),
  repeated('1,500 headers', () => asking('GET', '/healthz', HEADERS)),
  repeated('Expect: 100-continue', () => asking('GET', '/healthz', ['expect: 100-continue'])),
  {
    name: 'pipelined GET /openapi.json, nothing read',
    connections: 10,
    depth: 500,
    reads: false,
    request: () => asking('GET', '/openapi.json'),
  },
  {
    name: 'pipelined paths that do not exist, left at once',
    connections: 10,
    depth: 1_500,
    leaves: true,
    request: () => asking('GET', '/x'),
  },
  {
    name: 'a connection for each request',
    connections: MANY,
    leaves: true,
    request: () => asking('GET', '/healthz'),
  },
];
