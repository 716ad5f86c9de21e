import { createParamDecorator, type ExecutionContext } from '@nestjs/common';
import { randomUUID } from 'node:crypto';
import type { NextFunction, Request, Response } from 'express';

const REQUEST_ID = Symbol('requestId');
type Identified = Request & { [REQUEST_ID]?: string };

export const newRequestId = (): string => `req_${randomUUID()}`;

/** Gives every request an id and returns it in `x-request-id`. Callers quote it, and logs and events contain it. */
export const requestId = (request: Request, response: Response, next: NextFunction): void => {
  const id = newRequestId();
  (request as Identified)[REQUEST_ID] = id;
  response.setHeader('x-request-id', id);
  next();
};

export const requestIdOf = (request: Request): string => (request as Identified)[REQUEST_ID] ?? 'req_unknown';

/** Parameter decorator: the id of this request, `req_` and a UUID. */
export const RequestId = createParamDecorator((_: unknown, context: ExecutionContext): string =>
  requestIdOf(context.switchToHttp().getRequest<Request>()),
);
