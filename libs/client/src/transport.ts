import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { ProblemError, ServiceUnreachable, type AnyProblem } from './problem-error.js';
import { Repetition } from './repetition.js';

export interface ClientOptions {
  /** Such as `https://readings.example.com`, without `/api/v1`. */
  readonly baseUrl: string;
  /** An API key of the workspace; or `token`. */
  readonly apiKey?: string;
  /** A bearer token, or what gives the current one: keys, webhooks and erasure need it. Sent where there is no key. */
  readonly token?: string | (() => string | Promise<string>);
  /** How often a request is made at most, waiting for its own key in progress not counted. Default 4; 1: never again. */
  readonly attempts?: number;
  /** How long one answer is waited for, milliseconds. Default 15,000; a wait asked of the service comes on top. */
  readonly timeoutMs?: number;
  /** The longest pause between two attempts, milliseconds; asked for a longer one, a call throws. Default 30,000. */
  readonly longestPauseMs?: number;
  /** In place of the global one: a proxy, a test. */
  readonly fetch?: typeof fetch;
}

/** What any call may be given. */
export interface CallOptions {
  readonly signal?: AbortSignal;
}

/** What a call that does something may be given. */
export interface PostOptions extends CallOptions {
  /**
   * Yours, such as an order number: the same key and body never do the thing twice, not even after a crash of yours.
   * Without it each call does it once, however often it had to be repeated on the way.
   */
  readonly idempotencyKey?: string;
}

export interface Request {
  readonly method: 'GET' | 'POST' | 'PATCH' | 'DELETE';
  readonly path: string;
  readonly query?: Readonly<Record<string, string | number | boolean | undefined>>;
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string | undefined>>;
  /** Of a POST; made up where it is not given. */
  readonly idempotencyKey?: string | undefined;
  /** Seconds that the service may hold the answer. */
  readonly held?: number;
  readonly signal?: AbortSignal | undefined;
}

/** Without a slash at its end. @throws TypeError for what no request could be sent to */
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

/**
 * One request and its repetitions. A POST carries an `Idempotency-Key`, so that repeating it never does a thing twice;
 * a PATCH whose outcome is unknown is not repeated.
 */
export class Transport {
  private readonly baseUrl: string;
  private readonly attempts: number;
  private readonly timeoutMs: number;
  private readonly longestPauseMs: number;
  private readonly fetch: typeof fetch;

  constructor(private readonly options: ClientOptions) {
    if (!options.apiKey && !options.token) throw new TypeError('apiKey or token is required');
    this.baseUrl = checkedBaseUrl(options.baseUrl);
    this.attempts = options.attempts ?? 4;
    this.timeoutMs = options.timeoutMs ?? 15_000;
    this.longestPauseMs = options.longestPauseMs ?? 30_000;
    this.fetch = options.fetch ?? fetch;
  }

  async json<T>(request: Request): Promise<T> {
    return (await (await this.send(request)).json()) as T;
  }

  /** @throws ProblemError, ServiceUnreachable, or the reason of `signal` */
  async send(request: Request): Promise<Response> {
    const { method, signal } = request;
    const made = await this.prepare(request);
    const { attempts, longestPauseMs } = this;
    const repetition = new Repetition({ method, attempts, longestPauseMs });
    for (;;) {
      const outcome = await this.attempt(request, made);
      if (!(outcome instanceof Error)) return outcome;
      // What an attempt of unknown outcome has deleted is not there any more.
      const isGone = outcome instanceof ProblemError && outcome.status === 404;
      if (method === 'DELETE' && isGone && repetition.mayBeDone) return new Response(null, { status: 204 });
      const pause = repetition.pauseAfter(outcome);
      if (pause === null) throw outcome;
      await delay(pause, undefined, signal ? { signal } : {});
    }
  }

  private async attempt(
    request: Request,
    { url, init }: { readonly url: URL; readonly init: RequestInit },
  ): Promise<Response | ProblemError | ServiceUnreachable> {
    try {
      const response = await this.fetch(url, { ...init, signal: this.deadline(request) });
      return response.ok ? response : await problemOf(response);
    } catch (cause) {
      request.signal?.throwIfAborted();
      return new ServiceUnreachable(`${request.method} ${this.baseUrl}${request.path} had no answer`, {
        cause,
      });
    }
  }

  private async prepare({ method, path, query = {}, body, headers = {}, idempotencyKey }: Request) {
    const url = new URL(this.baseUrl + path);
    for (const [name, value] of Object.entries(query)) {
      if (value !== undefined) url.searchParams.set(name, String(value));
    }
    const { apiKey, token } = this.options;
    const bearer = typeof token === 'function' ? await token() : token;
    const all = {
      accept: 'application/json, */*;q=0.5',
      ...(apiKey ? { 'x-api-key': apiKey } : { authorization: `Bearer ${bearer}` }),
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      ...(method === 'POST' ? { 'idempotency-key': idempotencyKey ?? randomUUID() } : {}),
      ...headers,
    };
    const given = Object.entries(all).filter((entry): entry is [string, string] => entry[1] !== undefined);
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
    const timeout = AbortSignal.timeout(this.timeoutMs + held * 1_000);
    return signal ? AbortSignal.any([signal, timeout]) : timeout;
  }
}

/** Seconds or an HTTP date (RFC 9110, 10.2.3); `null` for neither. */
const readRetryAfter = (text: string | null): number | null => {
  if (text === null) return null;
  const seconds = /^\d+$/.test(text) ? Number(text) : Math.ceil((Date.parse(text) - Date.now()) / 1_000);
  return Number.isFinite(seconds) ? Math.max(0, seconds) : null;
};

/** A body that is no problem document, as from a gateway, still says what the status is. */
const problemOf = async (response: Response): Promise<ProblemError> => {
  const text = await response.text();
  const retryAfter = readRetryAfter(response.headers.get('retry-after'));
  try {
    const problem = JSON.parse(text) as AnyProblem;
    if (typeof problem.code === 'string') return new ProblemError(problem, retryAfter);
  } catch {
    // Not JSON: told below.
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
