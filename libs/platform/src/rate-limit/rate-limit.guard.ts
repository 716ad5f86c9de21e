import { Inject, Injectable, SetMetadata, type CanActivate, type ExecutionContext } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import type { IncomingMessage } from 'node:http';
import type { Request, Response } from 'express';
import type { Logger } from 'pino';
import { ACCEPTS_KEY, principalOf, type Principal } from '../auth/authentication.js';
import { requestIdOf } from '../http/request-id.js';
import { LOGGER } from '../tokens.js';
import {
  rateLimited,
  RateLimiter,
  type RatePolicies,
  type RatePolicy,
  type RateVerdict,
} from './rate-limiter.js';
import { Digester } from '../crypto/digest.js';
import type { Problem } from '../http/problem.js';
import { clientAddress } from './address.js';

export const RATE_POLICIES = Symbol('RatePolicies');

/** Requests that have taken a token of their workspace, so that the limits bound their number. */
const counted = new WeakSet<IncomingMessage>();
export const wasCounted = (request: IncomingMessage): boolean => counted.has(request);

const POLICY = 'rate:policy';

/** Whose bucket a caller's requests take from. Test traffic has buckets of its own: it cannot use up those of live keys. */
export const rateSubject = ({ workspaceId, mode }: Pick<Principal, 'workspaceId' | 'mode'>): string =>
  mode === 'live' ? workspaceId : `${workspaceId}:test`;

/** How many tokens a request takes; at least one. */
type Tokens = number | ((request: Request) => number);

interface Cost {
  readonly name: RatePolicy['name'];
  readonly tokens: Tokens;
}

/**
 * Names the policy of a route; by default, GET counts as `read` and everything else as `manage`.
 * @param tokens that a request takes; it needs one, and may exceed the burst with the others
 */
export const RateLimited = (name: RatePolicy['name'], tokens: Tokens = 1) =>
  SetMetadata(POLICY, { name, tokens } satisfies Cost);

/**
 * Limits the requests of a workspace in one mode across its keys and tokens, and reports its quota in the headers of
 * draft-ietf-httpapi-ratelimit-headers. An outage of the database is reported by the following steps, which need it, too.
 */
@Injectable()
export class RateLimitGuard implements CanActivate {
  constructor(
    private readonly reflector: Reflector,
    private readonly limiter: RateLimiter,
    @Inject(RATE_POLICIES) private readonly policies: RatePolicies,
    @Inject(LOGGER) private readonly log: Pick<Logger, 'warn'>,
  ) {}

  async canActivate(context: ExecutionContext): Promise<boolean> {
    const targets = [context.getHandler(), context.getClass()];
    if (this.reflector.getAllAndOverride(ACCEPTS_KEY, targets) === 'public') return true;
    const http = context.switchToHttp();
    const request = http.getRequest<Request>();
    const isRead = request.method === 'GET' || request.method === 'HEAD';
    const { name, tokens } = this.reflector.getAllAndOverride<Cost | undefined>(POLICY, targets) ?? {
      name: isRead ? 'read' : 'manage',
      tokens: 1,
    };
    const policy = this.policies[name];
    const verdict = await this.ask(request, policy, typeof tokens === 'number' ? tokens : tokens(request));
    if (!verdict) return true;
    http.getResponse<Response>().set(rateHeaders(policy, verdict));
    if (!verdict.allowed) throw rateLimited(policy, verdict);
    counted.add(request);
    return true;
  }

  private async ask(request: Request, policy: RatePolicy, tokens: number): Promise<RateVerdict | null> {
    const subject = rateSubject(principalOf(request));
    const verdict = await this.limiter.judge(subject, policy, tokens);
    if (!verdict)
      this.log.warn(
        { requestId: requestIdOf(request) },
        'the rate limit could not be asked; the request passes',
      );
    return verdict;
  }
}

/** Quota and window of the policy; tokens left, and the seconds until the bucket is full. */
export const rateHeaders = (
  { name, perMinute }: RatePolicy,
  verdict: RateVerdict,
): Record<string, string> => ({
  'RateLimit-Policy': `"${name}";q=${perMinute};w=60`,
  RateLimit: `"${name}";r=${verdict.remaining};t=${verdict.fullAfterSeconds}`,
});

/** Counts requests without valid credentials by address. */
@Injectable()
export class AddressLimiter {
  constructor(
    private readonly limiter: RateLimiter,
    private readonly digester: Digester,
    @Inject(RATE_POLICIES) private readonly policies: RatePolicies,
  ) {}

  /** Counts one more request. @returns the refusal for an address that has sent too many, or null */
  async refusal(request: Request): Promise<Problem | null> {
    const { unauthenticated } = this.policies;
    // An address is personal data, so a keyed digest of it names the bucket.
    const subject = this.digester.digest('rate-address', clientAddress(request)).toString('base64url');
    const verdict = await this.limiter.judge(subject, unauthenticated);
    return verdict && !verdict.allowed ? rateLimited(unauthenticated, verdict) : null;
  }
}
