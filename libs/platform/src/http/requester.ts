import { createParamDecorator, type ExecutionContext } from '@nestjs/common';
import type { Request } from 'express';
import { requestedBy, type RequestContext } from '#event-sourcing/core/request-context.js';
import { principalOf } from '../auth/authentication.js';
import { requestIdOf } from './request-id.js';
import { seedOf } from './request-seed.js';

/** Parameter decorator: the context of a command that the verified caller sends with this request. */
export const Requester = createParamDecorator((_: unknown, context: ExecutionContext): RequestContext => {
  const request = context.switchToHttp().getRequest<Request>();
  const { actor, mode } = principalOf(request);
  return { ...requestedBy(actor, requestIdOf(request), mode), seed: seedOf(request) };
});
