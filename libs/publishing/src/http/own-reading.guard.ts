import { Injectable, type CanActivate, type ExecutionContext } from '@nestjs/common';
import { QueryBus } from '@nestjs/cqrs';
import type { Request } from 'express';
import { principalOf } from '#platform/auth/authentication.js';
import { seesMode } from '#platform/auth/livemode.js';
import { Problem } from '#platform/http/problem.js';
import { GetReadingSummary, type ReadingSummary } from '#readings/contracts/index.js';

const READING = Symbol('reading');
type WithReading = Request & { [READING]?: ReadingSummary };

/**
 * For routes below a reading: refuses an unknown reading and one of another workspace or mode before the body is checked, so
 * that the answer reveals nothing about it.
 */
@Injectable()
export class OwnReadingGuard implements CanActivate {
  constructor(private readonly queries: QueryBus) {}

  async canActivate(context: ExecutionContext): Promise<boolean> {
    const request = context.switchToHttp().getRequest<WithReading>();
    const reading = await this.queries.execute(new GetReadingSummary(String(request.params['readingId'])));
    if (!reading) throw new Problem('reading_not_found');
    const caller = principalOf(request);
    if (reading.workspaceId !== caller.workspaceId) throw new Problem('wrong_workspace');
    if (!seesMode(caller, reading.livemode)) throw new Problem('reading_not_found');
    request[READING] = reading;
    return true;
  }
}

/** The reading that the guard found. */
export const readingOf = (request: Request): ReadingSummary => {
  const reading = (request as WithReading)[READING];
  if (!reading) throw new TypeError('The route has no reading: declare @UseGuards(OwnReadingGuard) on it');
  return reading;
};
