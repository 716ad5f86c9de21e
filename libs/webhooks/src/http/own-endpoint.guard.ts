import { Injectable, type CanActivate, type ExecutionContext } from '@nestjs/common';
import type { Request } from 'express';
import { principalOf } from '@app/platform/auth/authentication.js';
import { EndpointAccess } from '../application/endpoint-access.js';
import { asProblem } from './refusals.js';

/**
 * For routes with a body: refuses who names an endpoint of another workspace before anything is said about the body.
 * Routes without one ask for the endpoint first by themselves.
 */
@Injectable()
export class OwnEndpointGuard implements CanActivate {
  constructor(private readonly access: EndpointAccess) {}

  async canActivate(context: ExecutionContext): Promise<boolean> {
    const request = context.switchToHttp().getRequest<Request>();
    try {
      await this.access.require(String(request.params['endpointId']), principalOf(request).workspaceId);
    } catch (error) {
      throw asProblem(error);
    }
    return true;
  }
}
