import { z } from 'zod';
import type { ExampleObject, ReferenceObject, ResponseObject } from './document-types.js';
import {
  PROBLEMS,
  Problem,
  invalidRequest,
  problemBody,
  type CodeWithStatus,
  type ProblemCode,
  type ProblemOptions,
} from '../problem.js';
import { apiSchema, refTo } from './api-schema.js';
import { headers, type ApiHeaderName } from './headers.js';

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
