import type { AnyProblem, WebhookEndpoint } from '@reading-service/client';
import type { Insider } from '#platform/auth/authentication.js';
import { PERSONS_SCOPE } from '#platform/auth/scopes.js';
import type { InsideAnswer, InsideCall } from '#platform/http/in-process.js';

/** A route of the API refused a call, or could not answer it (RFC 9457). */
export class ApiProblem extends Error {
  override readonly name = 'ApiProblem';

  constructor(
    readonly problem: AnyProblem,
    /** Seconds, where the API says them. */
    readonly retryAfter: number | null,
  ) {
    super(problem.code);
  }
}

/** What a page itself refuses, as the API would. @param retryAfter seconds */
export const refusal = (
  status: number,
  code: AnyProblem['code'],
  { errors, retryAfter = null }: { errors?: AnyProblem['errors']; retryAfter?: number | null } = {},
): ApiProblem => {
  const own = { instance: 'urn:request:portal', requestId: 'portal', ...(errors && { errors }) };
  return new ApiProblem({ type: `urn:problem:${code}`, title: code, status, code, ...own }, retryAfter);
};

/** A field that the page itself refuses, as the API would. */
export const refusedField = (pointer: string, code: string): ApiProblem =>
  refusal(400, 'validation_failed', { errors: [{ pointer, code, detail: code }] });

export type ApiQuery = Readonly<Record<string, string | number | undefined>>;

interface SendOptions extends Pick<InsideCall, 'headers' | 'isPersonal'> {
  readonly body?: unknown;
  /** For a POST: the same key never does it twice. */
  readonly key?: string;
}

/** Members of the API's answers that say who a reading is about. */
const PERSONAL = new Set(['input', 'externalId', 'metadata']);

/**
 * The API as a session of the portal sees it: the same routes, guards, limits and records as from outside. Without the
 * scope `persons:read`, what the answers say about persons is `null`.
 */
export class Api {
  constructor(
    private readonly call: (call: InsideCall) => Promise<InsideAnswer>,
    private readonly insider: Insider,
    private readonly connection: InsideCall['connection'],
    /** Of the person's request, where proxies wrote it. */
    private readonly forwardedFor: string | undefined,
  ) {}

  /** Verifies the session again: whatever has waited calls it before it gives anything. @throws ApiProblem */
  async requireStanding(): Promise<void> {
    if ((await this.insider.verify()) === null) throw refusal(401, 'unauthenticated');
  }

  /** @param path below `/api/v1`. @throws ApiProblem */
  get<T>(path: string, query: ApiQuery = {}): Promise<T> {
    const given = Object.entries(query).flatMap(([name, value]) =>
      value === undefined || value === '' ? [] : [[name, String(value)]],
    );
    const search = new URLSearchParams(given).toString();
    return this.json('GET', search === '' ? path : `${path}?${search}`, {});
  }

  /** A resource that the page shows with what may tell of a person: the record of the call says so. @throws ApiProblem */
  personal<T>(path: string): Promise<T> {
    return this.json('GET', path, { isPersonal: this.insider.principal.scopes.includes(PERSONS_SCOPE) });
  }

  /**
   * @param path below `/api/v1`
   * @param key of the form. With those of the workspace's programs, a person could ask what their readings say
   * @throws ApiProblem
   */
  post<T>(path: string, body: unknown, key: string): Promise<T> {
    return this.json('POST', path, { body, key: `portal ${key}` });
  }

  /** A resource and its entity tag. @throws ApiProblem */
  async tagged<T>(path: string): Promise<{ readonly found: T; readonly etag: string }> {
    const { body, headers } = await this.send('GET', path, {});
    return { found: JSON.parse(body.toString('utf8')) as T, etag: String(headers['etag']) };
  }

  /** A JSON Merge Patch. @param ifMatch the entity tag that the resource must still have @throws ApiProblem */
  patch<T>(path: string, body: unknown, ifMatch?: string): Promise<T> {
    const headers = {
      'content-type': 'application/merge-patch+json',
      ...(ifMatch && { 'if-match': ifMatch }),
    };
    return this.json('PATCH', path, { body, headers });
  }

  /** @throws ApiProblem */
  async delete(path: string): Promise<void> {
    await this.send('DELETE', path, {});
  }

  /** An answer that is not JSON, such as a document. @throws ApiProblem */
  async file(path: string): Promise<{ readonly content: Buffer; readonly mediaType: string }> {
    const { body, headers } = await this.send('GET', path, { headers: { accept: '*/*' } });
    return { content: body, mediaType: String(headers['content-type']) };
  }

  private async json<T>(method: InsideCall['method'], path: string, options: SendOptions): Promise<T> {
    const { body } = await this.send(method, path, options);
    const seesPersons = this.insider.principal.scopes.includes(PERSONS_SCOPE);
    return JSON.parse(body.toString('utf8') || 'null', (name, value: unknown) =>
      !seesPersons && PERSONAL.has(name) ? null : value,
    ) as T;
  }

  private async send(
    method: InsideCall['method'],
    path: string,
    { body, key, headers = {}, isPersonal }: SendOptions,
  ): Promise<InsideAnswer> {
    const answer = await this.call({
      method,
      path: `/api/v1${path}`,
      headers: {
        accept: 'application/json',
        ...(body !== undefined && { 'content-type': 'application/json' }),
        ...(key !== undefined && { 'idempotency-key': key }),
        ...(this.forwardedFor !== undefined && { 'x-forwarded-for': this.forwardedFor }),
        ...headers,
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
      isPersonal,
      insider: this.insider,
      connection: this.connection,
    });
    if (answer.status < 400) return answer;
    const problem = JSON.parse(answer.body.toString('utf8')) as AnyProblem;
    const seconds = Number(answer.headers['retry-after']);
    throw new ApiProblem(problem, Number.isFinite(seconds) ? seconds : null);
  }
}

/** A workspace has no more endpoints than a page of them. */
export const allEndpoints = (api: Api) =>
  api.get<{ readonly data: readonly WebhookEndpoint[] }>('/webhooks', { limit: 100 });
