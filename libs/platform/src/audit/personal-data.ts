import { Injectable, SetMetadata, type CanActivate, type ExecutionContext } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import type { IncomingMessage } from 'node:http';
import type { Request } from 'express';
import { Problem } from '../http/problem.js';
import { AuditTrail } from './audit-trail.js';

const METADATA = 'audit:personal-data';
const giving = new WeakSet<IncomingMessage>();
const about = new WeakMap<IncomingMessage, string>();

/** Declares that a route returns personal data. The read is recorded, or refused. */
export const GivesPersonalData = () => SetMetadata(METADATA, true);

/**
 * Says that whoever calls this route shows personal data together with its answer, as a page of the portal does. The read is
 * recorded, or refused, as if the route gave them.
 */
export const setGivesPersonalData = (request: IncomingMessage): void => void giving.add(request);

export const givesPersonalData = (request: IncomingMessage): boolean => giving.has(request);

/** Names the resource that a request is about, where its path does not. */
export const setAbout = (request: IncomingMessage, id: string): void => void about.set(request, id);

export const aboutOf = (request: IncomingMessage): string | undefined => about.get(request);

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
