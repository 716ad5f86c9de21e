import type { ServerResponse } from 'node:http';

type ProblemKind = readonly [status: number, title: string, detail?: string];

/**
 * Every problem code and its HTTP status and title: a closed list (RFC 9457, `urn:problem:<code>`). A third element is
 * the default detail of its problems.
 */
export const PROBLEMS = {
  validation_failed: [400, 'Request is invalid'],
  unknown_parameter: [400, 'Query parameter is unknown'],
  malformed_json: [400, 'Request body is not valid JSON'],
  unsupported_locale: [400, 'Locale is not supported'],
  unknown_product: [400, 'Product is unknown'],
  unknown_profile: [400, 'Profile is unknown'],
  invalid_format: [400, 'Document format is missing or unknown'],
  invalid_webhook_url: [400, 'Webhook URL is invalid'],
  webhook_url_blocked: [400, 'Webhook URL leads to a blocked address'],
  unsupported_event_type: [400, 'Event type is not supported'],
  unauthenticated: [
    401,
    'Authentication is missing or invalid',
    'Send a valid API key in x-api-key, or a bearer token where it is accepted',
  ],
  insufficient_credits: [402, 'Insufficient credits'],
  auth_mode_not_allowed: [403, 'This authentication mode is not allowed here'],
  scope_missing: [403, 'A scope is missing'],
  network_not_allowed: [403, 'The API key does not work from this network'],
  wrong_workspace: [403, 'The resource belongs to another workspace'],
  not_found: [404, 'Not found'],
  reading_not_found: [404, 'Reading not found'],
  batch_not_found: [404, 'Batch not found'],
  document_not_available: [404, 'Document not available'],
  webhook_not_found: [404, 'Webhook endpoint not found'],
  version_not_found: [404, 'Document version not found'],
  link_not_found: [404, 'Link not found'],
  delivery_not_found: [404, 'Delivery not found'],
  method_not_allowed: [405, 'Method not allowed'],
  not_acceptable: [406, 'Not acceptable'],
  reading_not_completed: [409, 'Reading is not completed yet'],
  reading_failed: [409, 'Reading has failed'],
  endpoint_limit_reached: [409, 'Webhook endpoint limit reached'],
  key_limit_reached: [409, 'API key limit reached'],
  link_limit_reached: [409, 'Document link limit reached'],
  version_limit_reached: [409, 'Document version limit reached'],
  replay_in_progress: [409, 'A replay to this endpoint is in progress'],
  idempotency_in_progress: [
    409,
    'A request with this idempotency key is in progress',
    'Send the request again with the same key after Retry-After to get its answer',
  ],
  reading_erased: [410, 'The personal data of the reading was erased'],
  no_longer_kept: [410, 'It is no longer kept'],
  link_expired: [410, 'The link has expired', 'Ask the sender of the link for another one'],
  precondition_failed: [412, 'Precondition failed'],
  payload_too_large: [413, 'Request body is too large'],
  unsupported_media_type: [415, 'Unsupported media type'],
  idempotency_key_reused: [
    422,
    'Idempotency key was used with another body',
    'Use a new key for a new request, or send exactly the same body',
  ],
  rate_limited: [429, 'Rate limit exceeded'],
  internal_error: [500, 'Internal error'],
  enqueue_unavailable: [503, 'The request cannot be enqueued right now'],
  service_unavailable: [503, 'The service cannot answer right now'],
  billing_misconfigured: [503, 'Billing is not configured for this request'],
} as const satisfies Record<string, ProblemKind>;

export type ProblemCode = keyof typeof PROBLEMS;

/** A code in an operation that gives it another status than its own. */
export interface CodeWithStatus {
  readonly code: ProblemCode;
  readonly status: number;
}

/**
 * One invalid field: an RFC 6901 pointer (for a query parameter, `?` and its name), a machine code, and a sentence. The
 * sentence never repeats the value.
 */
export interface FieldError {
  readonly pointer: string;
  readonly code: string;
  readonly detail: string;
}

export interface ProblemOptions {
  /** Instead of the status of its code: what is gone (410) to a reader is a conflict (409) to a change. */
  readonly status?: number;
  readonly detail?: string;
  readonly errors?: readonly FieldError[];
  /** Errors that were found beyond `errors`. */
  readonly errorsOmitted?: number;
  readonly headers?: Readonly<Record<string, string>>;
  /** Further members of the body, such as `required` and `available`. */
  readonly members?: Readonly<Record<string, string | number>>;
  readonly cause?: unknown;
  /** Whether the thrower has logged the cause already, so that repeated requests do not fill the log. */
  readonly isLogged?: boolean;
  /** Whether the caller asked for this refusal, as a test reading may: nothing is wrong, and nobody is alarmed. */
  readonly isAsked?: boolean;
}

/** A refusal that the caller receives as application/problem+json. */
export class Problem extends Error {
  override readonly name = 'Problem';
  readonly status: number;
  readonly title: string;
  /** What is wrong, or what to do, in this case; where known. */
  readonly detail: string | undefined;

  constructor(
    readonly code: ProblemCode,
    readonly options: ProblemOptions = {},
  ) {
    const [status, title, detail]: ProblemKind = PROBLEMS[code];
    super(options.detail ?? title, { cause: options.cause });
    this.status = options.status ?? status;
    this.title = title;
    this.detail = options.detail ?? detail;
  }
}

/** Bytes that all errors of an answer take as JSON, at most. */
export const MAX_ERRORS = 16_384;

/** What is left for the errors of an answer, which may have many problems. */
export class ErrorRoom {
  constructor(private bytes = MAX_ERRORS) {}

  /** @returns the first errors for which there is room */
  take(errors: readonly FieldError[]): readonly FieldError[] {
    const excess = errors.findIndex((error) => {
      this.bytes -= Buffer.byteLength(JSON.stringify(error)) + 1;
      return this.bytes < 0;
    });
    return excess === -1 ? errors : errors.slice(0, excess);
  }
}

/** The body of a problem. A caller can quote `instance` or `requestId` to identify the request. */
export const problemBody = (problem: Problem, requestId: string, room = new ErrorRoom()) => {
  const { errors, errorsOmitted = 0, members } = problem.options;
  const shown = errors && room.take(errors);
  const omitted = errorsOmitted + (errors?.length ?? 0) - (shown?.length ?? 0);
  return {
    type: `urn:problem:${problem.code}`,
    title: problem.title,
    status: problem.status,
    code: problem.code,
    ...(problem.detail === undefined ? {} : { detail: problem.detail }),
    instance: `urn:request:${requestId}`,
    requestId,
    ...(shown && { errors: shown }),
    ...(omitted > 0 && { errorsOmitted: omitted }),
    ...members,
  };
};

/** The link to the page that explains a problem (RFC 8288), because its `type` is a URN, which no browser opens. */
export const helpOf = ({ code }: Pick<Problem, 'code'>): string => `</docs/errors/${code}>; rel="help"`;

/** Writes a problem as the answer, replacing any answer already started. */
export const sendProblem = (response: ServerResponse, problem: Problem, requestId: string): void => {
  for (const [name, value] of Object.entries(problem.options.headers ?? {})) response.setHeader(name, value);
  response.statusCode = problem.status;
  response.setHeader('Content-Type', 'application/problem+json');
  response.setHeader('Cache-Control', 'no-store');
  response.setHeader('Link', helpOf(problem));
  response.end(JSON.stringify(problemBody(problem, requestId)));
};

/** Most field errors of one problem. Who sends more has more to mend than a list can say. */
export const MOST_ERRORS = 100;
const MAX_TOLD = 200;

/** What an answer repeats of a pointer or a name: at most 200 characters, of which the last marks the cut. */
export const cut = (text: string): string =>
  text.length <= MAX_TOLD ? text : `${text.slice(0, MAX_TOLD - 1).toWellFormed()}…`;

/**
 * A 400 from field errors, of which it shows the first `MOST_ERRORS`, each once. When all errors have the same code and it
 * is a problem code, it becomes the top code.
 * @param omitted errors that were found beyond these
 */
export const invalidRequest = (all: readonly FieldError[], omitted = 0): Problem => {
  const errors = [
    ...new Map(
      all.map(({ pointer, code, detail }) => [
        `${pointer} ${code} ${detail}`,
        { pointer: cut(pointer), code, detail },
      ]),
    ).values(),
  ];
  const codes = new Set(errors.map(({ code }) => code));
  const [only] = codes;
  const code = codes.size === 1 && only !== undefined && isBadRequest(only) ? only : 'validation_failed';
  const what = errors.every(({ pointer }) => pointer.startsWith('?')) ? 'parameter' : 'field';
  const count = errors.length + omitted;
  const detail = count === 1 ? `1 ${what} is invalid` : `${count} ${what}s are invalid`;
  const shown = errors.slice(0, MOST_ERRORS);
  const errorsOmitted = count - shown.length;
  return new Problem(code, { detail, errors: shown, ...(errorsOmitted > 0 && { errorsOmitted }) });
};

const isBadRequest = (code: string): code is ProblemCode =>
  code in PROBLEMS && PROBLEMS[code as ProblemCode][0] === 400;
