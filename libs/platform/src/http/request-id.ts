import { randomUUID } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { NextFunction, Request, Response } from 'express';

const ids = new WeakMap<IncomingMessage, string>();

/** Gives every request an id and returns it in `x-request-id`. Callers quote it, and logs and events contain it. */
export const requestId = (request: Request, response: Response, next: NextFunction): void => {
  const id = `req_${randomUUID()}`;
  ids.set(request, id);
  response.setHeader('x-request-id', id);
  next();
};

export const requestIdOf = (request: IncomingMessage): string => ids.get(request) ?? 'req_unknown';
