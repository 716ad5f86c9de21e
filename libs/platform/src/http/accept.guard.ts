import { Injectable, SetMetadata, type CanActivate, type ExecutionContext } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import type { Request } from 'express';
import { Problem } from './problem.js';

export const MEDIA_TYPES = 'http:media-types';
const DEFAULT = ['application/json'];

/** The media types a route can return; the default is JSON. */
export const Produces = (...types: readonly string[]) => SetMetadata(MEDIA_TYPES, types);

/** Refuses requests that accept none of the route's media types (RFC 9110, 12.5.1). */
@Injectable()
export class AcceptGuard implements CanActivate {
  constructor(private readonly reflector: Reflector) {}

  canActivate(context: ExecutionContext): boolean {
    const types =
      this.reflector.getAllAndOverride<string[] | undefined>(MEDIA_TYPES, [
        context.getHandler(),
        context.getClass(),
      ]) ?? DEFAULT;
    const request = context.switchToHttp().getRequest<Request>();
    if (request.accepts(types.flatMap(written)) !== false) return true;
    throw new Problem('not_acceptable', { detail: `The answer can be ${types.join(', ')}` });
  }
}

/** The spellings of a type that match the response; text is UTF-8. */
const written = (type: string): string[] => [type, `${type}; charset=utf-8`];
