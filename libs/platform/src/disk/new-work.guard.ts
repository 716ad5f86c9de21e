import type { CanActivate, ExecutionContext } from '@nestjs/common';
import type { Request } from 'express';
import { Injectable } from '../injection.js';
import { Problem } from '../http/problem.js';
import { DiskReserve } from './disk-reserve.js';

/** Requests that make something. DELETE stays open: erasing and revoking cannot wait for a larger disk. */
const NEW_WORK = new Set(['POST', 'PUT', 'PATCH']);
/** Seconds: a person has to make room. */
const RETRY_AFTER = '60';

/** Refuses new work while the disk has only its reserve left, so that accepted work can be finished. */
@Injectable()
export class NewWorkGuard implements CanActivate {
  constructor(private readonly disk: DiskReserve) {}

  canActivate(context: ExecutionContext): boolean {
    const { method } = context.switchToHttp().getRequest<Request>();
    if (!NEW_WORK.has(method) || this.disk.isKept()) return true;
    throw new Problem('enqueue_unavailable', {
      detail: 'The service is short of disk space and accepts no new work; existing data stays readable',
      headers: { 'Retry-After': RETRY_AFTER },
      isLogged: true,
    });
  }
}
