import { Injectable, SetMetadata, type CanActivate, type ExecutionContext } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import type { IncomingMessage } from 'node:http';
import type { Request } from 'express';
import { Problem } from '../http/problem.js';
import { AuditTrail } from './audit-trail.js';

const METADATA = 'audit:personal-data';
const GIVEN = Symbol('personal data');
const ABOUT = Symbol('audited resource');
type Marked = IncomingMessage & { [GIVEN]?: true; [ABOUT]?: string };

/** Declares that a route returns personal data. The read is recorded, or refused. */
export const GivesPersonalData = () => SetMetadata(METADATA, true);

/**
 * Says that whoever calls this route shows personal data together with its answer, as a page of the portal does. The read is
 * recorded, or refused, as if the route gave them.
 */
export const setGivesPersonalData = (request: IncomingMessage): void => {
  (request as Marked)[GIVEN] = true;
};

export const givesPersonalData = (request: Request): boolean => (request as Marked)[GIVEN] === true;

/** Names the resource that a request is about, where its path does not. */
export const setAbout = (request: Request, id: string): void => {
  (request as Marked)[ABOUT] = id;
};

export const aboutOf = (request: Request): string | null => (request as Marked)[ABOUT] ?? null;

/** Refuses reads of personal data while they cannot be recorded. */
@Injectable()
export class PersonalDataGuard implements CanActivate {
  constructor(
    private readonly reflector: Reflector,
    private readonly trail: AuditTrail,
  ) {}

  canActivate(context: ExecutionContext): boolean {
    const targets = [context.getHandler(), context.getClass()];
    const request = context.switchToHttp().getRequest<Request>();
    const isDeclared = this.reflector.getAllAndOverride<true | undefined>(METADATA, targets) === true;
    if (!isDeclared && !givesPersonalData(request)) return true;
    if (!this.trail.hasRoom()) {
      throw new Problem('enqueue_unavailable', {
        detail: 'The read cannot be recorded right now',
        headers: { 'Retry-After': '5' },
      });
    }
    setGivesPersonalData(request);
    return true;
  }
}
