import { Inject, Injectable, type CanActivate, type ExecutionContext } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import type { Request } from 'express';
import { admissionOf } from '../http/door/admission.js';
import { Problem } from '../http/problem.js';
import { AddressLimiter } from '../rate-limit/address-limiter.js';
import {
  AUTHENTICATOR,
  AUTH_MODES_KEY,
  SCOPE_AREA_KEY,
  scopeFor,
  setIdentified,
  setPrincipal,
  type AuthMode,
  type Authenticator,
  type EndedKey,
  type Principal,
} from './authentication.js';

/** Denies by default: verifies the credential first, then checks whether the route allows its mode and scopes. */
@Injectable()
export class AuthGuard implements CanActivate {
  constructor(
    private readonly reflector: Reflector,
    @Inject(AUTHENTICATOR) private readonly authenticator: Authenticator,
    private readonly addresses: AddressLimiter,
  ) {}

  async canActivate(context: ExecutionContext): Promise<boolean> {
    const modes = this.declared<readonly AuthMode[] | 'public'>(AUTH_MODES_KEY, context);
    if (modes === 'public') return true;
    const request = context.switchToHttp().getRequest<Request>();
    const principal = await this.verify(request).catch((error: unknown) => this.unproved(error, request));
    if (principal) setIdentified(request, principal);
    if (!principal || 'isEnded' in principal) throw await this.unauthenticated(request);
    if (!modes?.includes(principal.authMode)) {
      const needed = principal.authMode === 'apiKey' ? 'a bearer token' : 'an API key in x-api-key';
      throw new Problem('auth_mode_not_allowed', { detail: `This operation needs ${needed}` });
    }
    if (principal.authMode === 'bearer') this.requireScope(principal, request, context);
    setPrincipal(request, principal);
    return true;
  }

  /** Limits repeated wrong credentials by address. Callers with valid credentials are never limited by others. */
  private async unauthenticated(request: Request): Promise<Problem> {
    const detail = 'Send a valid API key in x-api-key, or a bearer token where it is accepted';
    return (await this.tooMany(request)) ?? new Problem('unauthenticated', { detail });
  }

  /** Credentials that cannot be verified now (503) count on the address like wrong ones. */
  private async unproved(error: unknown, request: Request): Promise<never> {
    throw (error instanceof Problem ? await this.tooMany(request) : null) ?? error;
  }

  private tooMany(request: Request): Promise<Problem | null> {
    return this.addresses.refusal(admissionOf(request)?.address ?? request.ip ?? '');
  }

  /** When both headers are present, only the API key counts. */
  private async verify({ headers }: Request): Promise<Principal | EndedKey | null> {
    const apiKey = headers['x-api-key'];
    if (apiKey !== undefined) {
      return typeof apiKey === 'string' ? this.authenticator.verifyApiKey(apiKey) : null;
    }
    const [, token] = /^Bearer +([\w.~+/=-]+)$/i.exec(headers.authorization ?? '') ?? [];
    return token === undefined ? null : this.authenticator.verifyBearer(token);
  }

  private requireScope({ scopes }: Principal, { method }: Request, context: ExecutionContext): void {
    const area = this.declared<string>(SCOPE_AREA_KEY, context);
    const needed = area && scopeFor(area, method);
    if (!needed || !scopes.includes(needed)) {
      throw new Problem('auth_mode_not_allowed', { detail: `The token needs the scope ${needed}` });
    }
  }

  private declared<T>(key: string, context: ExecutionContext): T | undefined {
    return this.reflector.getAllAndOverride<T | undefined>(key, [context.getHandler(), context.getClass()]);
  }
}
