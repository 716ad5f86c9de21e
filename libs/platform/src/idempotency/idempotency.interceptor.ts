import {
  Injectable,
  SetMetadata,
  type CallHandler,
  type ExecutionContext,
  type NestInterceptor,
} from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import { createHash } from 'node:crypto';
import type { Request, Response } from 'express';
import { concatMap, from, of, type Observable } from 'rxjs';
import { catchError } from 'rxjs/operators';
import { canonicalJson } from '#event-sourcing/core/canonical-json.js';
import { principalOf, type Principal } from '../auth/authentication.js';
import { Digester } from '../crypto/digest.js';
import { routeOf } from '../http/outcome.js';
import { readIdempotencyKey } from '../http/idempotency-key.js';
import { Problem } from '../http/problem.js';
import { toProblem } from '../http/problem.filter.js';
import { setSeed } from '../http/request-seed.js';
import { IdempotentRequests, type Claim, type RequestIdentity } from './idempotent-requests.js';

const OWN = 'idempotency:own';
export const OWN_IDEMPOTENCY_KEY = OWN;

/** Declares that a route handles idempotency keys itself. */
export const OwnIdempotency = () => SetMetadata(OWN, true);

/** No existing path is longer, and an index entry in PostgreSQL holds about 2,700 bytes. */
const MAX_ROUTE = 512;

/**
 * Method and path: the same key for two endpoints identifies two requests. The path is decoded, because an id can be
 * written with or without escapes.
 */
const routeKey = (request: Request): string => {
  const path = routeOf(request).replaceAll(/:(\w+)/g, (_, name: string) =>
    encodeURIComponent(String(request.params[name])),
  );
  return path.length <= MAX_ROUTE
    ? `POST ${path}`
    : `POST ${createHash('sha256').update(path).digest('hex')}`;
};

const SHOWN_ONCE = 'idempotency:shown-once';

/**
 * Declares members of a route's answer that hold a secret. No copy of it is stored, and a repeated answer omits them. The
 * caller is part of the request: to another one it shows no secret, not even that of an attempt without an answer.
 */
export const ShownOnce = (...members: readonly string[]) => SetMetadata(SHOWN_ONCE, members);

/** Who calls, with what rights: a weaker token of one person is another caller. */
const identityOf = ({ authMode, actor, sessionId = '', sees, scopes }: Principal) =>
  canonicalJson([authMode, actor, sessionId, [...sees], scopes.toSorted()]);

/**
 * Honours Idempotency-Key on every POST: stores the first request's answer and returns it to the same request. Refuses
 * another body under the same key, and a second request while the first is in progress. Stores only successful answers.
 * An attempt after one of unknown outcome has the same seed (docs/adr/0039).
 */
@Injectable()
export class IdempotencyInterceptor implements NestInterceptor {
  constructor(
    private readonly reflector: Reflector,
    private readonly requests: IdempotentRequests,
    private readonly digester: Digester,
  ) {}

  async intercept(context: ExecutionContext, next: CallHandler): Promise<Observable<unknown>> {
    const http = context.switchToHttp();
    const request = http.getRequest<Request>();
    const header = request.headers['idempotency-key'];
    if (request.method !== 'POST' || header === undefined) return next.handle();
    if (this.reflector.getAllAndOverride(OWN, [context.getHandler(), context.getClass()]))
      return next.handle();
    const key = readIdempotencyKey(Array.isArray(header) ? header.join() : header) ?? '';
    const caller = principalOf(request);
    // Each mode has keys of its own, and so has who sees both: the answer may hold what a key of one mode may not see.
    const purpose = caller.mode === 'test' ? 'test-idempotency-key' : 'idempotency-key';
    const secrets = this.reflector.get<readonly string[] | undefined>(SHOWN_ONCE, context.getHandler());
    const asker = secrets ? [identityOf(caller)] : caller.sees.length > 1 ? [caller.sees.join()] : [];
    const identity: RequestIdentity = {
      workspaceId: caller.workspaceId,
      route: routeKey(request),
      keyDigest: this.digester.digest(purpose, key, ...asker),
    };
    const fingerprint = this.digester.digest('idempotency-body', canonicalJson(request.body ?? null));
    const response = http.getResponse<Response>();
    const begun = await this.requests.begin(identity, fingerprint);
    switch (begun.outcome) {
      case 'another_body':
        throw new Problem('idempotency_key_reused');
      case 'in_progress':
        throw new Problem('idempotency_in_progress', { headers: { 'Retry-After': '1' } });
      case 'answered': {
        const { status, location, body } = begun.answer;
        response.status(status).set('Idempotency-Replayed', 'true');
        if (location !== null) response.set('Location', location);
        return of(body === null ? undefined : (JSON.parse(body) as unknown));
      }
      case 'begun':
        // The key of this service is part of it: who reads the table alone derives nothing.
        setSeed(request, this.digester.digest('request-seed', begun.claim.seed.toString('hex')));
        return next.handle().pipe(
          // An answer that cannot be stored does not release the key, because the work is done.
          catchError(async (error: unknown) => {
            await this.end(begun.claim, error).catch(() => undefined);
            throw error;
          }),
          concatMap((body: unknown) => from(this.keep(begun.claim, response, body, secrets ?? []))),
        );
    }
  }

  /**
   * Only a refused request releases the key, so that the caller can correct it. One that failed may have done its work, and
   * so may the attempt before a refused one: only the same request may continue.
   */
  private end(claim: Claim, error: unknown): Promise<void> {
    const isRefused = toProblem(error).status < 500;
    return isRefused && !claim.again ? this.requests.giveUp(claim) : this.requests.leave(claim);
  }

  private async keep(
    claim: Claim,
    response: Response,
    body: unknown,
    omitted: readonly string[],
  ): Promise<unknown> {
    const location = response.getHeader('location');
    await this.requests.finish(claim, {
      status: response.statusCode,
      location: typeof location === 'string' ? location : null,
      body:
        body === undefined
          ? null
          : JSON.stringify(body, (name, value: unknown) => (omitted.includes(name) ? undefined : value)),
    });
    return body;
  }
}
