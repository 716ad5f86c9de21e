import { Injectable, type CanActivate, type ExecutionContext } from '@nestjs/common';
import type { Request } from 'express';
import { principalOf } from '@app/platform/auth/authentication.js';
import { EndpointAccess } from '../application/endpoint-access.js';
import { orProblem } from './refusals.js';

/**
 * For routes with a body: refuses an endpoint of another workspace before the body is checked, so that the answer
 * reveals nothing about it. Routes without a body look the endpoint up themselves.
 */
@Injectable()
export class OwnEndpointGuard implements CanActivate {
  constructor(private readonly access: EndpointAccess) {}

  async canActivate(context: ExecutionContext): Promise<boolean> {
    const request = context.switchToHttp().getRequest<Request>();
    const { workspaceId } = principalOf(request);
    orProblem(await this.access.find(String(request.params['endpointId']), workspaceId));
    return true;
  }
}
