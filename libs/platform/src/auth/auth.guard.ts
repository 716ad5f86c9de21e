import { Inject, Injectable, type CanActivate, type ExecutionContext } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import type { Request } from 'express';
import { Problem } from '../http/problem.js';
import { AddressLimiter } from '../rate-limit/rate-limit.guard.js';
import {
  API_KEY_CHALLENGE,
  AUTHENTICATOR,
  ACCEPTS_KEY,
  insiderOf,
  principalOf,
  setIdentified,
  setPrincipal,
  setStanding,
  verifyCredentials,
  type Authenticator,
  type Principal,
  type RefusedKey,
} from './authentication.js';
import type { NeededScopes } from './scopes.js';

type Accepted = NeededScopes | 'public' | undefined;

const acceptedBy = (reflector: Reflector, context: ExecutionContext): Accepted =>
  reflector.getAllAndOverride<Accepted>(ACCEPTS_KEY, [context.getHandler(), context.getClass()]);

/** Denies by default: a route that is not public needs a valid credential. What it may do, `ScopeGuard` judges. */
@Injectable()
export class AuthGuard implements CanActivate {
  constructor(
    private readonly reflector: Reflector,
    @Inject(AUTHENTICATOR) private readonly authenticator: Authenticator,
    private readonly addresses: AddressLimiter,
  ) {}

  async canActivate(context: ExecutionContext): Promise<boolean> {
    const accepts = acceptedBy(this.reflector, context);
    if (accepts === 'public') return true;
    const request = context.switchToHttp().getRequest<Request>();
    const insider = insiderOf(request);
    const credentials = () => this.verify(request);
    const authenticate = (verify: typeof credentials) => this.authenticate(request, accepts ?? {}, verify);
    await authenticate(insider ? async () => insider.principal : credentials);
    setStanding(request, () => authenticate(insider?.verify ?? credentials));
    return true;
  }

  private verify(request: Request): Promise<Principal | RefusedKey | null> {
    return verifyCredentials(this.authenticator, request).catch((error: unknown) =>
      this.unproved(error, request),
    );
  }

  private async authenticate(
    request: Request,
    accepts: NeededScopes,
    verify: () => Promise<Principal | RefusedKey | null>,
  ): Promise<void> {
    const principal = await verify();
    if (principal) setIdentified(request, principal);
    if (!principal || 'refusal' in principal) throw await this.unauthenticated(request, principal, accepts);
    setPrincipal(request, principal);
  }

  /** Limits repeated wrong credentials by address. Callers with valid credentials are never limited by others. */
  private async unauthenticated(
    request: Request,
    refused: RefusedKey | null,
    accepts: NeededScopes,
  ): Promise<Problem> {
    const limited = await this.addresses.refusal(request);
    if (limited) return limited;
    if (refused?.refusal === 'network') {
      return new Problem('network_not_allowed', { detail: 'This API key works only from other networks' });
    }
    return new Problem('unauthenticated', {
      detail: refused ? undefined : inWrongHeader(request),
      headers: { 'WWW-Authenticate': challenge(accepts, request) },
    });
  }

  /** Credentials that cannot be verified now (503) count on the address like wrong ones. */
  private async unproved(error: unknown, request: Request): Promise<never> {
    throw (error instanceof Problem ? await this.addresses.refusal(request) : null) ?? error;
  }
}

/** Refuses callers whose kind or scopes the route does not accept. After the rate limit, so that a refusal counts, too. */
@Injectable()
export class ScopeGuard implements CanActivate {
  constructor(private readonly reflector: Reflector) {}

  canActivate(context: ExecutionContext): boolean {
    const accepts = acceptedBy(this.reflector, context);
    if (accepts !== 'public')
      requireScope(principalOf(context.switchToHttp().getRequest<Request>()), accepts ?? {});
    return true;
  }
}

/** The schemes that a route accepts (RFC 9110, 11.6.1). Of a token that was sent, it says so (RFC 6750, 3.1). */
const challenge = ({ bearer }: NeededScopes, { headers }: Request): string => {
  if (bearer === undefined) return API_KEY_CHALLENGE;
  const isSent = headers['x-api-key'] === undefined && /^Bearer /i.test(headers.authorization ?? '');
  return `${API_KEY_CHALLENGE}, Bearer realm="api"${isSent ? ', error="invalid_token"' : ''}`;
};

/**
 * Says it to a caller who sent a credential in the header of the other kind. Judges the header's shape alone, so that
 * the answer reveals nothing about a key.
 */
const inWrongHeader = ({ headers }: Request): string | undefined => {
  const { 'x-api-key': apiKey, authorization = '' } = headers;
  if (apiKey === undefined) {
    return /^(?:[a-z]+ +)?ek_(?:live|test)_/i.test(authorization)
      ? 'An API key goes into x-api-key, not into Authorization'
      : undefined;
  }
  return /^(?:Bearer +)?[\w-]+\.[\w-]+\.[\w-]+$/i.test(String(apiKey))
    ? 'A bearer token goes into Authorization: Bearer <token>, not into x-api-key'
    : undefined;
};

/** @throws Problem (403) */
const requireScope = ({ authMode, scopes }: Principal, accepts: NeededScopes): void => {
  const scope = authMode === 'session' ? accepts.apiKey : accepts[authMode];
  if (scope === undefined) {
    const needed = authMode === 'apiKey' ? 'a bearer token' : 'an API key in x-api-key';
    throw new Problem('auth_mode_not_allowed', { detail: `This operation needs ${needed}` });
  }
  if (scopes.includes(scope)) return;
  const what = { apiKey: 'API key', bearer: 'token', session: 'session' }[authMode];
  throw new Problem('scope_missing', { detail: `The ${what} needs the scope ${scope}`, members: { scope } });
};
