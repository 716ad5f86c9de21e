import { Injectable, type CanActivate, type ExecutionContext } from '@nestjs/common';
import type { Request } from 'express';
import { principalOf } from '@app/platform/auth/authentication.js';
import { EndpointAccess } from '../application/endpoint-access.js';
import { asProblem } from './refusals.js';

/** Refuses who names an endpoint of another workspace, before anything is said about the rest of the request. */
@Injectable()
export class OwnEndpointGuard implements CanActivate {
  constructor(private readonly access: EndpointAccess) {}

  async canActivate(context: ExecutionContext): Promise<boolean> {
    const request = context.switchToHttp().getRequest<Request>();
    const { endpointId } = request.params;
    if (typeof endpointId !== 'string') return true;
    try {
      await this.access.require(endpointId, principalOf(request).workspaceId);
    } catch (error) {
      throw asProblem(error);
    }
    return true;
  }
}
