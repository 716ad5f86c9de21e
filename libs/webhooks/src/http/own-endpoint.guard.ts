import { Injectable, SetMetadata, type CanActivate, type ExecutionContext } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import type { Request } from 'express';
import { principalOf } from '#platform/auth/authentication.js';
import { Problem } from '#platform/http/problem.js';
import { EndpointAccess } from '../application/endpoint-access.js';
import { orProblem } from './refusals.js';

const CHANGES_ENDPOINT = 'webhooks:changes-endpoint';

/** Declares that a route changes the endpoint itself, or gives a new secret of it. */
export const ChangesEndpoint = () => SetMetadata(CHANGES_ENDPOINT, true);

/**
 * Refuses an endpoint of another workspace or mode before the body is checked, so that the answer reveals nothing about
 * it. Live receivers depend on an endpoint of both modes, so a test key cannot change it.
 */
@Injectable()
export class OwnEndpointGuard implements CanActivate {
  constructor(
    private readonly access: EndpointAccess,
    private readonly reflector: Reflector,
  ) {}

  async canActivate(context: ExecutionContext): Promise<boolean> {
    const request = context.switchToHttp().getRequest<Request>();
    const { workspaceId, sees } = principalOf(request);
    const { record } = orProblem(await this.access.find(String(request.params['endpointId']), workspaceId));
    if (!record.modes.some((mode) => sees.includes(mode))) throw new Problem('webhook_not_found');
    const changes = this.reflector.get<boolean | undefined>(CHANGES_ENDPOINT, context.getHandler());
    if (changes && !sees.includes('live') && record.modes.includes('live'))
      throw new Problem('auth_mode_not_allowed', {
        detail: 'The endpoint also receives live events: change it with a live key',
      });
    return true;
  }
}
