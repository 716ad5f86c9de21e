import { Inject, Injectable, type CanActivate, type ExecutionContext } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import type { Request } from 'express';
import { Problem } from '../http/problem.js';
import {
  AUTHENTICATOR,
  AUTH_MODES_KEY,
  setPrincipal,
  type AuthMode,
  type Authenticator,
} from './authentication.js';

/** Default deny: verifies the credential first, then judges whether its mode is allowed on the route. */
@Injectable()
export class AuthGuard implements CanActivate {
  constructor(
    private readonly reflector: Reflector,
    @Inject(AUTHENTICATOR) private readonly authenticator: Authenticator,
  ) {}

  async canActivate(context: ExecutionContext): Promise<boolean> {
    const modes = this.reflector.getAllAndOverride<readonly AuthMode[] | 'public' | undefined>(
      AUTH_MODES_KEY,
      [context.getHandler(), context.getClass()],
    );
    if (modes === 'public') return true;
    const request = context.switchToHttp().getRequest<Request>();
    const apiKey = request.headers['x-api-key'];
    const principal = typeof apiKey === 'string' ? await this.authenticator.verifyApiKey(apiKey) : null;
    if (!principal) throw new Problem('unauthenticated', { detail: 'Send a valid API key in x-api-key' });
    if (!modes?.includes(principal.mode)) throw new Problem('auth_mode_not_allowed');
    setPrincipal(request, principal);
    return true;
  }
}
