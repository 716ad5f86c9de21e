import { randomUUID } from 'node:crypto';
import { ProblemError, ServiceUnreachable, helpOf, type AnyProblem } from './problem-error.js';
import { pauseFor, Repetition } from './repetition.js';

export interface ClientOptions {
  /** Example: `https://readings.example.com`, without `/api/v1`. */
  readonly baseUrl: string;
  /** An API key of the workspace; alternatively `token`. */
  readonly apiKey?: string;
  /**
   * A bearer token, or a function that returns the current one. Keys, webhooks and erasure require it.
   * Ignored if `apiKey` is set.
   */
  readonly token?: string | (() => string | Promise<string>);
  /**
   * Maximum number of attempts; those that wait for the call's own key in progress are not counted. Default
   * 4; 1 disables retries.
   */
  readonly attempts?: number;
  /**
   * Timeout of one attempt, milliseconds. Default 15,000. A wait requested from the service is added to it.
   */
  readonly timeoutMs?: number;
  /**
   * Longest pause between two attempts, milliseconds. If the service asks for a longer one, the call throws.
   * Default 30,000.
   */
  readonly longestPauseMs?: number;
  /** Replaces the global `fetch`, for a proxy or a test. */
  readonly fetch?: typeof fetch;
}

/** Options of every call. */
export interface CallOptions {
  readonly signal?: AbortSignal;
}

/** Options of a call that changes something. */
export interface PostOptions extends CallOptions {
  /**
   * Your own key, such as an order number: 1 to 255 printable ASCII characters. The same key and body never perform
   * the operation twice, even if your process crashes. By default each call has a key of its own, so its retries
   * perform the operation once.
   */
  readonly idempotencyKey?: string;
}

export interface Request {
  readonly method: 'GET' | 'POST' | 'PATCH' | 'DELETE';
  readonly path: string;
  /** A list sends its parameter once for each member. */
  readonly query?: Readonly<Record<string, QueryValue | readonly QueryValue[] | undefined>>;
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string | undefined>>;
  /** For a POST; generated if missing. */
  readonly idempotencyKey?: string | undefined;
  /** Seconds for which the service may hold the response. */
  readonly held?: number;
  /** Gives the body as it arrives. Otherwise an answer counts only once it is whole. */
  readonly isStreamed?: boolean;
  readonly signal?: AbortSignal | undefined;
}

type QueryValue = string | number | boolean;

const etags = new WeakMap<object, string>();

/**
 * The `ETag` of an answer of this client, to send in `ifMatch` or `ifNoneMatch`.
 * @returns `undefined` when the service gave none, as for an item of a list, or when the value is no answer of this
 *   client, such as a copy of one
 */
export const etagOf = (answer: object): string | undefined => etags.get(answer);

/** Gives a value that was made from an answer the `ETag` of this answer. */
export const withEtagOf = <T extends object>(answer: object, made: T): T => {
  const etag = etags.get(answer);
  if (etag !== undefined) etags.set(made, etag);
  return made;
};

/**
 * Sends one request, with retries. A POST carries an `Idempotency-Key`, so a retry never performs the
 * operation twice. A PATCH with an unknown outcome is not retried.
 */
export class Transport {
  private readonly baseUrl: string;
  private readonly attempts: number;
  private readonly timeoutMs: number;
  private readonly longestPauseMs: number;
  private readonly fetch: typeof fetch;

  constructor(private readonly options: ClientOptions) {
    const { apiKey, token } = options;
    if (!apiKey && !token) throw new TypeError('apiKey or token is required');
    if (apiKey) checkedCredential('apiKey', apiKey);
    else if (typeof token === 'string') checkedCredential('token', token);
    this.baseUrl = checkedBaseUrl(options.baseUrl);
    this.attempts = options.attempts ?? 4;
    this.timeoutMs = options.timeoutMs ?? 15_000;
    this.longestPauseMs = options.longestPauseMs ?? 30_000;
    this.fetch = options.fetch ?? fetch;
  }

  async json<T>(request: Request): Promise<T> {
    return bodyOf(await this.send(request));
  }

  get<T>(path: string, { signal }: Pick<Request, 'signal'>, query: Request['query'] = {}): Promise<T> {
    return this.json({ method: 'GET', path, query, signal });
  }

  post<T>(path: string, body: unknown, options: PostOptions): Promise<T> {
    return this.json({ method: 'POST', path, body, ...options });
  }

  async delete(path: string, { signal }: CallOptions): Promise<void> {
    await this.send({ method: 'DELETE', path, signal });
  }

  /** @returns `null` when the state still has the `ETag` in `if-none-match` */
  async jsonIfChanged<T>(request: Request): Promise<T | null> {
    const response = await this.send(request);
    return response.status === NOT_MODIFIED ? null : bodyOf(response);
  }

  /** @throws ProblemError, ServiceUnreachable, the reason of `signal`, or a TypeError for what cannot be sent */
  async send(request: Request): Promise<Response> {
    const { method, signal } = request;
    const made = await this.prepare(request);
    const { attempts, longestPauseMs } = this;
    const repetition = new Repetition({ method, attempts, longestPauseMs });
    for (;;) {
      const outcome = await this.attempt(request, made);
      if (!(outcome instanceof Error)) return outcome;
      // An earlier attempt with an unknown outcome may have deleted it.
      const isGone = outcome instanceof ProblemError && outcome.status === 404;
      if (method === 'DELETE' && isGone && repetition.mayBeDone) return new Response(null, { status: 204 });
      const pause = repetition.pauseAfter(outcome);
      if (pause === null) throw outcome;
      await pauseFor(pause, signal);
    }
  }

  private async attempt(
    request: Request,
    { url, init }: { readonly url: URL; readonly init: RequestInit },
  ): Promise<Response | ProblemError | ServiceUnreachable> {
    const signal = this.deadline(request);
    try {
      const response = await this.fetch(url, { ...init, signal });
      if (!response.ok && response.status !== NOT_MODIFIED) return await problemOf(response);
      return request.isStreamed ? response : await wholeOf(response);
    } catch (cause) {
      request.signal?.throwIfAborted();
      return new ServiceUnreachable(`${request.method} ${this.baseUrl}${request.path} had no answer`, {
        cause,
      });
    }
  }

  private async prepare({ method, path, query = {}, body, headers = {}, idempotencyKey }: Request) {
    // A URL resolves them to another route.
    if (/\/[.]{0,2}(\/|$)/.test(path)) throw new TypeError(`An id is empty or has only dots: ${path}`);
    const url = new URL(this.baseUrl + path);
    for (const [name, value] of Object.entries(query)) {
      if (value === undefined) continue;
      for (const one of Array.isArray(value) ? (value as readonly QueryValue[]) : [value])
        url.searchParams.append(name, String(one));
    }
    const { apiKey, token } = this.options;
    const bearer = typeof token === 'function' ? checkedCredential('token', await token()) : token;
    const all = {
      accept: 'application/json, */*;q=0.5',
      ...(apiKey ? { 'x-api-key': apiKey } : { authorization: `Bearer ${bearer}` }),
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      ...(method === 'POST' ? { 'idempotency-key': idempotencyKey ?? randomUUID() } : {}),
      ...headers,
    };
    const given = Object.entries(all).filter((entry): entry is [string, string] => entry[1] !== undefined);
    // Throws here for what is no header: in an attempt, it would pass for a service that does not answer.
    new Headers(given);
    return {
      url,
      init: {
        method,
        headers: Object.fromEntries(given),
        redirect: 'error' as const,
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      },
    };
  }

  private deadline({ held = 0, signal }: Request): AbortSignal {
    const timeout = AbortSignal.timeout(Math.min(this.timeoutMs + held * 1_000, LONGEST_TIMER_MS));
    return signal ? AbortSignal.any([signal, timeout]) : timeout;
  }
}

/** The base URL without a trailing slash. @throws TypeError for an unusable URL */
const checkedBaseUrl = (text: string): string => {
  const url = URL.canParse(text) ? new URL(text) : null;
  const isUsable = url && /^https?:$/.test(url.protocol) && url.search === '' && url.hash === '';
  if (!isUsable || /\/api\/v1\/*$/.test(url.pathname)) {
    const said = text === undefined ? 'nothing' : JSON.stringify(text);
    throw new TypeError(
      `baseUrl must be an http or https URL without /api/v1, such as https://readings.example.com; it is ${said}`,
    );
  }
  return url.href.replace(/\/+$/, '');
};

/** A credential, without the space around it. Errors never show it. @throws TypeError for what no header can hold */
const checkedCredential = (name: 'apiKey' | 'token', credential: string): string => {
  const text = typeof credential === 'string' ? credential.trim() : '';
  if (/^[\x21-\x7e]+$/.test(text)) return text;
  throw new TypeError(`${name} must have only printable ASCII characters, without spaces`);
};

/** What a timer of Node takes, milliseconds; a longer one fires at once. */
const LONGEST_TIMER_MS = 2_147_483_647;

const NOT_MODIFIED = 304;

/** Reads the body to its end, within the attempt: an answer that is cut off is none. */
const wholeOf = async (response: Response): Promise<Response> =>
  response.body === null ? response : new Response(await response.arrayBuffer(), response);

const bodyOf = async <T>(response: Response): Promise<T> => {
  const body = (await response.json()) as T;
  const etag = response.headers.get('etag');
  if (etag !== null && typeof body === 'object' && body !== null) etags.set(body, etag);
  return body;
};

/** Seconds or an HTTP date (RFC 9110, 10.2.3); `null` for anything else. */
const readRetryAfter = (text: string | null): number | null => {
  if (text === null) return null;
  const seconds = /^\d+$/.test(text) ? Number(text) : Math.ceil((Date.parse(text) - Date.now()) / 1_000);
  return Number.isFinite(seconds) ? Math.max(0, seconds) : null;
};

/**
 * The problem document of a response. A gateway's body may be something else; then the status becomes the
 * problem.
 */
const problemOf = async (response: Response): Promise<ProblemError> => {
  const text = await response.text();
  const retryAfter = readRetryAfter(response.headers.get('retry-after'));
  try {
    const problem = JSON.parse(text) as AnyProblem;
    if (typeof problem.code === 'string')
      return new ProblemError(problem, retryAfter, helpOf(response.headers.get('link'), response.url));
  } catch {
    // Not JSON: handled below.
  }
  return new ProblemError(
    {
      type: 'about:blank',
      title: response.statusText || 'No problem document',
      status: response.status,
      code: `http_${response.status}`,
      instance: new URL(response.url || 'http://unknown').pathname,
      requestId: response.headers.get('x-request-id') ?? 'unknown',
    },
    retryAfter,
  );
};
